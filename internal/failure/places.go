package failure

// aPlace matches the end of a file's name, or what stands for one, with the numbers of a line and a column behind it.
var aPlace = lazy(`(\.[\w+~-]{0,10}[A-Za-z][\w+~-]{0,10}['"]?|akefile['"]?|Dockerfile|[>\]]['"]?|\bnode:[\w/]+)` +
	`(?::\d+(?:[:.-]\d+)*|:?\[\d+(?:[:.,-] ?\d+)*\]|\(\d+(?:[:.,-] ?\d+)*\))`)

// noPlaces takes the numbers of lines and columns off the names of files: "a.go:3:5", "a.ts(3,5)", "A.java:[3,5]",
// "Makefile:3".
func noPlaces(line string) string { return aPlace.ReplaceAllString(line, "$1") }
