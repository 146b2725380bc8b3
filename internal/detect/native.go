package detect

var cmakeTests = lazy(`(?mi)^\s*(enable_testing\s*\(|include\s*\(\s*CTest\s*\))`)

// cmakeProject is one command: what a check makes and git does not ignore is gone when the next one begins.
func cmakeProject(files topFiles) (d Result) {
	if !files.has("CMakeLists.txt") {
		return d
	}
	tests := files.says("CMakeLists.txt", cmakeTests)
	dir := buildDir(files)
	command := "cmake -S . -B " + dir + " && cmake --build " + dir
	if tests {
		d.hard(atTest, command+" && ctest --test-dir "+dir+" --output-on-failure", "CMakeLists.txt enables tests")
	} else {
		d.hard(atBuild, command, "CMakeLists.txt is there")
	}
	return d
}

// buildDir is a directory that is no one's.
func buildDir(files topFiles) string {
	if files.has("build") {
		return "build-ralph"
	}
	return "build"
}

func mesonProject(files topFiles) (d Result) {
	if files.has("meson.build") {
		dir := buildDir(files)
		d.hard(atTest, "meson setup "+dir+" && meson test -C "+dir+" --print-errorlogs", "meson.build is there")
	}
	return d
}

// autotoolsProject makes configure where a release would have it.
func autotoolsProject(files topFiles) (d Result) {
	switch source := files.first("configure.ac", "configure.in"); {
	case files.has("Makefile"), files.has("CMakeLists.txt"), files.has("meson.build"):
	case files.has("configure") && (source != "" || files.has("Makefile.in")):
		d.hard(atTest, "sh ./configure && make check", "configure is there")
	case source != "":
		d.hard(atTest, "autoreconf -fi && sh ./configure && make check", source+" is there")
	}
	return d
}
