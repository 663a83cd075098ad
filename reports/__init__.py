"""Reports over result folders. Nothing here touches an engine."""
