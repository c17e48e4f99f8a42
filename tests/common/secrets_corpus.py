"""A held-out list for redaction: made-up secrets in many contexts, and clean lines that must stay.

It was written from the public descriptions of the formats, not from the rule table, and everything in it is
random from a fixed seed: no value was ever in use.
"""

import random
import string
import uuid

LETTERS, ALNUM, HEX = string.ascii_letters, string.ascii_letters + string.digits, "0123456789abcdef"


class Maker:
    """Random parts of secrets and lines, the same for the same seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def take(self, alphabet, count):
        # A digit and both cases, as in any random value of that length.
        text = "".join(self.random.choice(alphabet) for _ in range(count - 3))
        return (
            self.random.choice(string.ascii_lowercase if "z" in alphabet else "abc")
            + text
            + "7"
            + ("Q" if "Q" in alphabet else "e")
        )

    def digits(self, count):
        return "".join(self.random.choice(string.digits) for _ in range(count))

    def identity_number(self):
        place = self.random.choice(["110105", "310104", "440305", "510107"])
        born = f"19{self.random.randint(60, 99)}0{self.random.randint(1, 9)}1{self.random.randint(0, 9)}"
        body = place + born + self.digits(3)
        weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
        total = sum(int(digit) * weight for digit, weight in zip(body, weights, strict=True))
        return body + "10X98765432"[total % 11]

    def card(self, prefix, length):
        body = prefix + self.digits(length - len(prefix) - 1)
        total = 0
        for position, digit in enumerate(reversed(body)):
            value = int(digit) * (2 if position % 2 == 0 else 1)
            total += value - 9 if value > 9 else value
        return body + str(-total % 10)


def secrets(seed):
    """kind -> one made-up secret: 16 kinds of credentials and 5 of personal data."""
    make = Maker(seed)
    take = make.take
    return {
        "aws access key": "AKIA" + take(string.ascii_uppercase + string.digits, 16).upper(),
        "github token": "ghp_" + take(ALNUM, 36),
        "github fine-grained": "github_pat_" + take(ALNUM, 22) + "_" + take(ALNUM, 59),
        "gitlab token": "glpat-" + take(ALNUM, 20),
        "slack token": f"xoxb-{make.digits(12)}-{make.digits(12)}-{take(ALNUM, 24)}",
        "openai key": "sk-proj-" + take(ALNUM, 48),
        "anthropic key": "sk-ant-api03-" + take(ALNUM, 90) + "-" + take(ALNUM, 6) + "AA",
        "google key": "AIza" + take(ALNUM, 35),
        "stripe key": "sk_live_" + take(ALNUM, 24),
        "aliyun key": "LTAI5t" + take(ALNUM, 18),
        "tencent key": "AKID" + take(ALNUM, 32),
        "npm token": "npm_" + take(ALNUM, 36),
        "hugging face token": "hf_" + take(ALNUM, 34),
        "sendgrid key": f"SG.{take(ALNUM, 22)}.{take(ALNUM, 43)}",
        "deepseek key": "sk-" + take(HEX, 32),
        "jwt": f"eyJ{take(ALNUM, 33)}.eyJ{take(ALNUM, 60)}.{take(ALNUM, 43)}",
        "identity number": make.identity_number(),
        "mobile": "1" + make.random.choice(["38", "59", "76", "88", "99"]) + make.digits(8),
        "bank card": make.card(make.random.choice(["622848", "621700", "4367", "5218"]), 16),
        "e-mail": take(string.ascii_lowercase, 9).lower()
        + make.random.choice(["@163.com", "@mail.example.cn"]),
        "database url": f"app:{take(ALNUM, 12)}",
    }


#: 8 surroundings for any secret; the database URL stands inside its own.
CONTEXTS = (
    "请用 {} 登录后再试",
    "错误：鉴权失败（{}），已重试三次。",
    "The job failed with {} and was retried.",
    "export SERVICE_VALUE={}",
    '{{"id": 7, "value": "{}", "ok": true}}',
    "  value: '{}'  # 生产环境",
    "[2026-06-12 10:00:00] WARN auth={} status=401",
    "client = connect(`{}`, timeout=30)",
)

#: (template, kind): what only its surroundings make a secret.
NAMED = (
    ("password={}", "password"),
    ("password: {}", "password"),
    ("DB_PASSWORD='{}'", "password"),
    ('{{"user": "ops", "passwd": "{}"}}', "password"),
    ("密码：{}", "password"),
    ("数据库密码是{}，不要外传", "password"),
    ("口令: {} 已更新", "password"),
    ("mysql --password={} -h db1", "password"),
    ("Authorization: Bearer {}", "bearer"),
    ('-H "Authorization: Bearer {}"', "bearer"),
    ("bearer {}", "bearer"),
    ("api_key={}", "secret"),
    ('"clientSecret": "{}"', "secret"),
    ("aws_secret_access_key = {}", "secret"),
    ("https://example.com/cb?access_token={}&state=1", "secret"),
    ("密钥：{}", "secret"),
    ("X-Api-Key: {}", "secret"),
    ("AccessKeySecret: {}", "secret"),
    ("redis://:{}@cache.internal:6379/0", "url_credentials"),
    ("postgres://app:{}@db.internal/app", "url_credentials"),
    ("git clone https://oauth2:{}@git.example.com/a/b.git", "url_credentials"),
)

_CLEAN = (
    "fix(db): revert {sha} because of {short}",
    "提交 {sha} 修复了 {short} 引入的问题",
    "request_id={uuid} status=200 took {small} ms",
    "会话 {uuid} 已归档，共 {small} 条",
    "升级 django 到 {version}，requests=={version}",
    "released v{version} on {date}",
    "订单号 {order18} 支付成功，金额 {small}.50 元",
    "订单 {date8}{order10} 已发货",
    "order 62284{order11} was refunded",
    "时间戳 {millis}，耗时 {small}ms",
    "offset {micros} of partition {small}",
    "snowflake id {snowflake} is too large for a double",
    "see https://example.com/docs/{short}?page={small}#top",
    "docker run -u 1000:1000 -p 8080:80 app:{version}",
    "max_tokens={small}, temperature=0.7",
    "estimated_tokens: {small}",
    "token 数量为 {small}，超出上限",
    "密码不能为空，长度至少 8 位",
    "the password must have at least 8 characters",
    "password: required, string",
    "password = getpass.getpass()",
    "api_key = os.environ['SERVICE_KEY_{small}']",
    "api_key: settings.API_KEY_{small}",
    "PWD=/srv/app/{short}",
    "token: str | None = None",
    "Bearer authentication is described in section {small}",
    "bearer tokens expire after {small} minutes",
    "sha256:{sha}{short4}",
    "package@{version} and lodash@4.17.21",
    "icon@2x.png 与 icon@3x.png 已压缩",
    "git@github.com:example/repo.git",
    "联系电话请见内网公告第 {small} 页",
    "IP 10.0.{small8}.{small8}:8080 无法连接",
    "颜色 #{hex6}，宽 {small}px",
    "ISBN 978-7-{isbn}",
    "CVE-2026-{small5} fixed",
    "src/home/index.{small}.js was renamed",
    "EXP-{small} 与 EP-{small} 冲突",
    "checksum {md5}",
    "{date}T10:00:00+08:00 completed in {small}.{small}s",
    "key: value pairs and secret santa {small}",
    "批次 {date8}-{small} 共处理 {order10} 行",
    "kafka topic user-events-{small} lag {order10}",
    "pass: {small}, fail: 0, skipped: 3",
    "ssh: connect to host db{small} port 22: refused",
    "@app.route('/v{small}/items')",
    "cookie 过期时间设为 {small} 秒",
    "commit {sha}\nAuthor date: {date}",
)


def clean_lines(seed, count=1000):
    """`count` lines with commits, UUIDs, versions, dates, order numbers and the like, and nothing secret."""
    make = Maker(seed)
    return [_CLEAN[number % len(_CLEAN)].format_map(_Parts(make)) for number in range(count)]


class _Parts(dict):
    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, name):
        make, pick = self.make, self.make.random
        hexes = {"sha": 40, "short": 8, "short4": 24, "md5": 32, "hex6": 6}
        if name in hexes:
            return "".join(pick.choice(HEX) for _ in range(hexes[name]))
        return {
            "uuid": lambda: str(uuid.UUID(int=pick.getrandbits(128), version=4)),
            "version": lambda: f"{pick.randint(0, 30)}.{pick.randint(0, 99)}.{pick.randint(0, 9)}",
            "date": lambda: f"2026-{pick.randint(1, 12):02d}-{pick.randint(1, 28):02d}",
            "date8": lambda: f"2026{pick.randint(1, 12):02d}{pick.randint(1, 28):02d}",
            "order18": lambda: f"{pick.randint(1, 9)}{make.digits(17)}",
            "order11": lambda: make.digits(11),
            "order10": lambda: make.digits(10),
            "millis": lambda: f"17{make.digits(11)}",
            "micros": lambda: f"17{make.digits(14)}",
            "snowflake": lambda: f"1{make.digits(18)}",
            "small": lambda: str(pick.randint(1, 999)),
            "small5": lambda: make.digits(5),
            "small8": lambda: str(pick.randint(0, 255)),
            "isbn": lambda: f"{make.digits(4)}-{make.digits(4)}-{make.digits(1)}",
        }[name]()
