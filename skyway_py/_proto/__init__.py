"""Generated from proto/ by scripts/gen-proto; not to be edited."""
