"""The report as a page: its sections, tables and templates, in HTML and Markdown."""
