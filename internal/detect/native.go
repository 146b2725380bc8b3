package detect

var cmakeTests = lazy(`(?mi)^\s*(enable_testing\s*\(|include\s*\(\s*CTest\s*\))`)

// nativeProject is a project of C. What a check makes and git does not ignore is gone when the next one begins, so
// each check is one command. configure is made where a release would have it.
func nativeProject(files topFiles) (d Result) {
	dir := "build"
	if files.has(dir) { // someone's
		dir = "build-ralph"
	}
	cmake := "cmake -S . -B " + dir + " && cmake --build " + dir
	if !d.hard(atTest, cmake+" && ctest --test-dir "+dir+" --output-on-failure",
		files.says("CMakeLists.txt", cmakeTests, "enables tests")) {
		d.hard(atBuild, cmake, files.there("CMakeLists.txt"))
	}
	d.hard(atTest, "meson setup "+dir+" && meson test -C "+dir+" --print-errorlogs", files.there("meson.build"))
	if files.first("Makefile", "CMakeLists.txt", "meson.build") == "" {
		source := files.first("configure.ac", "configure.in")
		if !files.has("configure") || source == "" && !files.has("Makefile.in") {
			d.hard(atTest, "autoreconf -fi && sh ./configure && make check", files.there(source))
		} else {
			d.hard(atTest, "sh ./configure && make check", "configure is there")
		}
	}
	return d
}
