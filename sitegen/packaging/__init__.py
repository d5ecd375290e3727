"""Work at packaging time: the JavaScript libraries that pages load. Not part of a wheel."""
