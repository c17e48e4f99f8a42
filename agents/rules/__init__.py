"""The pure rules of an agent's body: paths, sections of documents, and what a change of them touches."""
