package detect

// mavenProject runs everything up to verify. The wrapper is run by sh: not every repository has kept its mode.
func mavenProject(files topFiles) (d Result) {
	switch {
	case !files.has("pom.xml"):
	case files.has("mvnw"):
		d.hard(atTest, "sh ./mvnw -B verify", "pom.xml and mvnw are there")
	default:
		d.hard(atTest, "mvn -B verify", "pom.xml is there")
	}
	return d
}

func gradleProject(files topFiles) (d Result) {
	name := files.first("build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle")
	switch {
	case name == "":
	case files.has("gradlew"):
		d.hard(atTest, "sh ./gradlew check", name+" and gradlew are there")
	default:
		d.hard(atTest, "gradle check", name+" is there")
	}
	return d
}
