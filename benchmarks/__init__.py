"""One script per claim; results that a document quotes stand in results/."""
