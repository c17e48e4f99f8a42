"""Words that try to steer a model, marked for the reviewer's eyes. Pure. docs/rules.md: lures.

They raise no risk and block nothing: such lists miss much, and what protects is that a person approves the
exact text. All patterns are fixed and bounded, and look at a bounded piece of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from common.text import nfkc, show_hidden, without_format_characters

#: Characters of one text and of all texts of an item that are read, and flags of an item.
MAX_TEXT, MAX_READ, MAX_FLAGS = 20_000, 40_000, 10
_EXCERPT = 120

_URL = r"(?:https?://|ftp://|www\.)"
_AWAY = rf"(?:{_URL}|\bexternal\b|\S@\S)"
_RULES_EN = (
    r"(?:instructions?|directions?|directives?|rules?|guidelines?|prompts?|polic(?:y|ies)|restrictions?|constraints?"
    r"|messages?|filters?|safeguards?)"
)
_RULES_ZH = "(?:指令|指示|规则|规定|规范|设定|提示词|约束|限制|安全|政策|审查|过滤|要求)"

#: kind -> alternatives. Text is folded: lower case, NFKC, no invisible characters, single spaces, LF.
_PATTERNS: dict[str, tuple[str, ...]] = {
    "override": (
        r"\b(?:ignor\w+|disregard\w*|forget\w*|bypass\w*|overrid\w+|violat\w+|(?:do not|don't|never"
        r"|stop) (?:follow|obey)\w*)\b"
        r".{0,30}\b(?:all|any|previous|prior|earlier|above|your|system|safety|developer|content|initial"
        r"|original|these|those)"
        rf"\b.{{0,25}}\b{_RULES_EN}\b",
        r"\b(?:ignore|disregard|forget) (?:everything|anything|all|the above|what (?:was|you|i))\b",
        r"\b(?:ignore|disregard) the (?:system|developer|above)",
        rf"\b{_RULES_EN}\b.{{0,25}}\b(?:no longer (?:apply|count|hold)|(?:is|are) (?:now )?(?:void"
        rf"|cancell?ed|lifted|suspended|revoked))\b",
        rf"\boverrid\w+ .{{0,25}}\b{_RULES_EN}\b",
        r"\b(?:limits?|restrictions?) (?:is|are) (?:now )?(?:lifted|removed|off)\b",
        r"\b(?:higher|highest|more|top) priority (?:than|over)\b|\btakes? precedence over\b"
        r"|\bonly this one counts\b",
        rf"(?:忽略|无视|忘记|忘掉|忘却|不要?(?:再)?(?:理会|遵守|遵循|听从|服从)|不必(?:遵守|理会|遵循)|绕过|绕开|推翻).{{0,15}}{_RULES_ZH}",
        rf"{_RULES_ZH}.{{0,12}}(?:作废|失效|无效|取消|不再(?:适用|有效|生效)|解除)",
        "优先级.{0,8}高于|优先(?:服从|执行|遵守|于)|覆盖(?:其他|一切|所有|之前)的?|以(?:本条|这条|我的话?)为准|只(?:听|按|照)(?:我|本条|这条)",
    ),
    "persona": (
        r"\byou are now\b|\bfrom now on,? you (?:are|will|must|act)\b|\bpretend (?:that )?(?:you|to be)\b",
        r"\bact as (?:an? |the )?(?:dan|root|admin\w*|developer|hacker|god|evil|unrestricted|unfiltered"
        r"|jailbroken|ai without)\b",
        r"\b(?:developer|god|dan|debug|sudo) mode\b.{0,20}(?:\.|$|\band\b|\bwithout\b)|\bjailbr[eo]ak\w*",
        r"\b(?:no|without(?: any)?|free of) (?:restrictions|limits|rules|filters?|safety|censorship)\b"
        r"|\bun(?:restricted|censored|filtered|chained)\b",
        r"\byour (?:real|true|actual) (?:role|identity|purpose|self)\b",
        "你现在(?:就?是|扮演)|从现在(?:开始|起),?你(?:就?是|将|要|扮演)|扮演|假装(?:你|自己|没有)|真(?:实|正)的?身份",
        "(?:开发者|上帝|调试|管理员)模式|越狱",
        "(?:没有|不受|解除|取消|关闭|去除|无视)(?:了)?(?:任何|所有|一切|全部)?(?:的)?(?:内容|安全)?(?:限制|约束|审查|过滤|规则)",
    ),
    "tool_call": (
        r"</?(?:antml:)?(?:tool_calls?|function_calls?|invoke|tool_use)\b|\bfunction_call\s*[:(=]"
        r"|\[assistant to=|\bto=functions",
        r'"(?:tool|function|name)"\s*:\s*"[^"]{1,60}"\s*,\s*"(?:arguments|parameters|args|input)"\s*:',
        r"\b(?:curl|wget)\b[^|\n]{0,200}\|\s*(?:ba|z|da)?sh\b|\brm -rf?\b|~/\.ssh|\bid_rsa\b"
        r"|/etc/(?:passwd|shadow)",
        r"\b(?:run|execute) the following (?:shell )?commands?\b|执行(?:以下|下列|下面的)命令",
        r"\b(?:silently|secretly|quietly|covertly|immediately|in the background)\b.{0,30}\b(?:call|invoke"
        r"|use|run|execute|open|send|upload|read)",
        r"\b(?:call|invoke|use|run|execute|open)\b.{0,60}\b(?:silently|secretly|in the background"
        r"|as soon as you|before (?:you answer|answering|replying))",
        r"\b(?:when|whenever|once|as soon as) you (?:see|read) this\b|\bbefore (?:you answer|answering"
        r"|replying)\b.{0,20}\b(?:call|invoke|use|run|execute)",
        r"\bat the (?:start|beginning) of (?:each|every) (?:session|task|conversation)\b.{0,40}\b(?:call"
        r"|invoke|use|run|execute|curl)\b",
        "(?:读到|看到|看见)(?:这|本|此).{0,10}(?:调用|运行|执行|立即|立刻|马上|使用)",
        "(?:立即|立刻|马上|偷偷|悄悄|暗中|秘密|后台).{0,12}(?:调用|运行|执行|使用|读取)",
        "(?:回答|回复)(?:之)?前.{0,6}(?:调用|运行|执行|用|使用)",
    ),
    "exfiltration": (
        r"\b(?:send|post|upload|forward|transmit|leak|copy|append|submit|exfiltrate|e-?mail|report|push)\b"
        rf".{{0,100}}{_AWAY}",
        r"\b(?:add|attach|append|put)\b.{0,60}\b(?:link|url|query)\b",
        rf"!\[[^\]\n]{{0,100}}\]\(\s*{_URL}[^)\n]{{0,300}}|<img\b[^>\n]{{0,200}}\bsrc\b",
        rf"(?:发送?|上传|转发|泄露|传输?|拼接?|复制|拷贝|提交|同步|抄送).{{0,40}}(?:{_URL}|外部|\S@\S)",
        r"https?://(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:requestbin|webhook\.site|pastebin|ngrok)\b",
    ),
    "secrecy": (
        r"\b(?:don't|do not|never|must not|should not|shouldn't|mustn't)\b.{0,12}\b(?:tell|inform|notify"
        r"|let|show|alert)\b"
        r".{0,12}\b(?:users?|reviewers?|anyone|anybody|approvers?|them|humans?)\b",
        r"\b(?:don't|do not|never|must not)\b.{0,12}\b(?:mention|reveal|disclose|admit"
        r"|say)\b.{0,20}\b(?:that you|this|you were|instruct\w*)",
        r"\b(?:hide|conceal|keep)\b.{0,40}\b(?:from (?:the |all |any )?(?:users?|reviewers?|humans?"
        r"|anyone)|secret|hidden)\b",
        r"\bwithout (?:the )?users?(?:'s)? (?:noticing|knowing|knowledge|consent)\b|\busers? (?:must"
        r"|should|may) not (?:know|notice|see)\b",
        "(?:不要|别|勿|不得|不能|禁止|切勿)(?:再|去)?(?:告诉|告知|通知|透露给)(?:用户|任何人|审核|评审|别人)",
        "(?:不要|别|勿|不得|不能|禁止|切勿)(?:透露|提及|提到|说出|承认).{0,8}(?:收到|读过|看过|指令|这条|本条|这段|规则)",
        "(?:不要|别|不能|不得)让.{0,8}(?:知道|发现|察觉|看到)|不知情|(?:对|向).{0,6}(?:用户|审核|评审).{0,6}(?:保密|隐瞒|隐藏)",
        "(?:悄悄|偷偷|暗中|秘密)(?:地)?(?:执行|进行|处理|发送|上传|读取|完成)",
    ),
    "no_questions": (
        r"\bnever ask\b(?! (?:twice|again|for (?:the|a) (?:same|password)))",
        r"\b(?:don't|do not|no need to|stop|never)(?: ever)? (?:ask|request|seek|wait)(?:ing)? (?:for "
        r"|the user |me |us )?(?:for )?(?:any )?(?:permission|confirmation|approval|consent|before)",
        r"\bwithout (?:asking|confirmation|confirming|approval|permission|(?:my|user|human) (?:approval"
        r"|consent|confirmation))",
        r"(?<!not )(?<!never )(?<!n't )\bskip (?:the |any |all )?(?:approval|confirmation|permission|review)",
        r"\balways (?:approve|accept|agree|say yes|answer yes|reply yes|allow)\b|\bapprove (?:every|all"
        r"|any|each)\w*",
        r"\bauto(?:matically)?[ -](?:approve|accept|confirm|allow)\b",
        "(?:不要|不用|不必|无需|无须|不需要|别|永远不要|从不)(?:再)?(?:向)?(?:用户|我|任何人)?(?:询问|请求(?:许可|确认|批准|同意)|征求|征得|问我"
        "|问用户(?!已)|等(?:待)?(?:审批|批准|确认|许可|同意))",
        "(?:不用|不必|无需|无须|不需要)(?:再)?(?:人工|用户|任何|二次)?(?:确认|批准|审批|同意|许可)|不用问|别问",
        "(?:一律|总是|自动|全部|统统|始终|永远|默认)(?:自动)?(?:批准|同意|授权|放行|回答(?:是|同意|可以)|说是)",
        "总是回答同意|(?<!不要)(?<!不得)(?<!禁止)(?<!不能)(?<!不可)(?<!别)跳过.{0,12}(?:审批|确认|审核|批准)",
    ),
    "prompt_leak": (
        r"\b(?:print|show|reveal|output|repeat|display|recite|tell|give|leak|dump)\b.{0,30}"
        r"\b(?:system prompt|(?:initial|hidden|original|secret) instructions|your (?:instructions|prompt|rules)"
        r"|(?:text|everything|words|lines?|message) above)\b",
        "(?:输出|打印|告诉|复述|重复|显示|展示|泄露|给出|公开|说出).{0,15}(?:系统提示词|提示词|(?:初始|隐藏|内部)(?:的)?(?:指令|设定)|上面的(?:内容|文字"
        "|指令)|以上(?:全部)?内容)",
        "系统提示词.{0,6}(?:原文|全文|告诉|发给|给出|输出)",
    ),
    "forged_turn": (
        r"<\|[a-z_]{2,20}\|>|</?(?:system|assistant|memory|instructions?|admin)>|\[/?(?:inst|system|sys)\]"
        r"|<</?sys>>|【系统】",
        r"(?:^|\n)[ #>*-]{0,6}(?:system|assistant|human|developer|系统(?:消息|指令|提示)?|助手)\s*:",
    ),
}
_COMPILED = {kind: re.compile("|".join(f"(?:{one})" for one in ones)) for kind, ones in _PATTERNS.items()}
_ENCODED_RE = re.compile(r"[A-Za-z0-9+/]{160,}={0,2}")


@dataclass(frozen=True)
class Lure:
    """What kind of steering, and the words in which it was found (folded, shortened)."""

    kind: str
    text: str


def find_lures(text: str) -> Iterator[Lure]:
    """The first find of each kind in one text."""
    text = text[:MAX_TEXT]
    folded = _folded(text)
    for kind, pattern in _COMPILED.items():
        found = pattern.search(folded)
        if found:
            yield Lure(kind, found[0].strip()[:_EXCERPT])
    shown = text.replace("\t", " ")
    if show_hidden(shown) != shown:
        yield Lure("hidden_characters", show_hidden(shown)[:_EXCERPT])
    if encoded := _ENCODED_RE.search(text):
        yield Lure("encoded", encoded[0][:_EXCERPT])


def lures(texts: Iterable[str]) -> list[dict[str, str]]:
    """The flags of an item: `{kind, text}`, at most ten, each once; `unread` when there was too much to read."""
    found: dict[Lure, None] = {}
    left = MAX_READ
    for text in texts:
        if len(text) > min(left, MAX_TEXT):
            found[Lure("unread", text[:_EXCERPT])] = None
        found |= dict.fromkeys(find_lures(text[: max(left, 0)]))
        left -= len(text)
    return [{"kind": lure.kind, "text": lure.text} for lure in list(found)[:MAX_FLAGS]]


def _folded(text: str) -> str:
    plain = nfkc(without_format_characters(text)).casefold().replace("\u2019", "'")
    lines = (" ".join(line.split()) for line in plain.splitlines())
    return "\n".join(line for line in lines if line)
