"""Knowledge as files `k-NNN.md`: lenient reading of both header styles, writing that gives the same bytes.

Nothing here opens a file.
"""

from evolution.knowledge.markdown.reading import is_knowledge_file, read_knowledge
from evolution.knowledge.markdown.writing import write_knowledge

__all__ = ["is_knowledge_file", "read_knowledge", "write_knowledge"]
