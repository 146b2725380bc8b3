package detect

import "strings"

// dotnetProject builds and tests the one solution, or else the one project, at the top. dotnet itself takes it without
// being told where there is no other; of several it wants to be told which, and nothing says that.
func dotnetProject(files topFiles) (d Result) {
	solutions, projects := files.ending(".sln", ".slnx"), files.ending(".csproj", ".fsproj", ".vbproj")
	chosen := solutions
	if len(chosen) == 0 {
		chosen = projects
	}
	switch {
	case len(chosen) == 0:
		return d
	case len(chosen) > 1:
		d.note("several solutions or projects of .NET are at the top, and nothing says which is meant")
		return d
	case !safeName(chosen[0]):
		d.note("the solution or project of .NET at the top has a name that is not plain: it is not used")
		return d
	}
	name := ""
	if len(solutions)+len(projects) > 1 {
		name = " " + chosen[0]
	}
	why := chosen[0] + " is there"
	d.hard(atBuild, strings.TrimSpace("dotnet build"+name), why)
	d.hard(atTest, strings.TrimSpace("dotnet test"+name), why)
	return d
}
