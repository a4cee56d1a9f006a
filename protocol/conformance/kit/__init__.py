"""The conformance kit: a fake coordinator, a judge of what an app sends, scripts, and variations of them."""
