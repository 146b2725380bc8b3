package detect

import (
	"encoding/json"
	"slices"
)

var cmakeTests = lazy(`(?mi)^\s*(enable_testing\s*\(|include\s*\(\s*CTest\s*\))`)

// cmakeProject is one command: what a check makes and git does not ignore is gone when the next one begins.
func cmakeProject(files topFiles) (d Result) {
	if !files.has("CMakeLists.txt") {
		return d
	}
	tests := files.says("CMakeLists.txt", cmakeTests)
	if files.has("CMakePresets.json") && presets(files, tests, &d) {
		return d
	}
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

// preset is one of a CMakePresets.json.
type preset struct {
	Name      string `json:"name"`
	Hidden    bool   `json:"hidden"`
	Configure string `json:"configurePreset"`
}

// presets takes a workflow, or else the presets to configure, build and test by.
func presets(files topFiles, tests bool, d *Result) bool {
	object := files.object("CMakePresets.json", d)
	of := func(kind string) []preset {
		var list []preset
		if json.Unmarshal(object[kind], &list) != nil {
			return nil
		}
		return slices.DeleteFunc(list, func(p preset) bool { return p.Hidden || !safeName(p.Name) })
	}
	if p, ok := chosenPreset(of("workflowPresets"), ""); ok {
		d.hard(atTest, "cmake --workflow --preset "+p.Name, "CMakePresets.json has a workflow preset "+p.Name)
		return true
	}
	configure, ok := chosenPreset(of("configurePresets"), "")
	build, built := chosenPreset(of("buildPresets"), configure.Name)
	if !ok || !built {
		return false
	}
	command := "cmake --preset " + configure.Name + " && cmake --build --preset " + build.Name
	if test, tested := chosenPreset(of("testPresets"), configure.Name); tested {
		d.hard(atTest, command+" && ctest --preset "+test.Name, "CMakePresets.json has a test preset "+test.Name)
		return true
	}
	if tests {
		return false // ctest would not know where
	}
	d.hard(atBuild, command, "CMakePresets.json has a build preset "+build.Name)
	return true
}

// chosenPreset is the only one, or the one that is named as one for this: there is no default. Those of a configure
// preset alone, if one is named.
func chosenPreset(list []preset, configure string) (preset, bool) {
	if configure != "" {
		list = slices.DeleteFunc(list, func(p preset) bool { return p.Configure != configure })
	}
	if len(list) == 1 {
		return list[0], true
	}
	for _, name := range []string{"ci", "default", "dev", "debug", "Debug"} {
		if i := slices.IndexFunc(list, func(p preset) bool { return p.Name == name }); i >= 0 {
			return list[i], true
		}
	}
	return preset{}, false
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
