"""Pictures and files in and out."""
