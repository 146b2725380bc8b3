package detect

import "encoding/json"

// phpScripts are the scripts of composer that make a check; of each list, the first that is there.
var phpScripts = []struct {
	at    stage
	names []string
}{
	{atLint, []string{"lint", "cs", "check-style"}},
	{atTypes, []string{"analyse", "analyze", "phpstan", "stan", "psalm"}},
	{atTest, []string{"test", "tests"}},
}

// phpProject takes the scripts of composer.json, and where none tests, Pest or PHPUnit by what shows them.
func phpProject(files topFiles) (d Result) {
	unit := files.first("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
	if !files.has("composer.json") {
		return d
	}
	manifest := files.object("composer.json", &d)
	if manifest == nil {
		return d
	}
	if files.has("composer.lock") {
		d.locked("composer install --no-interaction", "composer.lock is there")
	} else {
		d.installs("composer install --no-interaction", "composer.json is there")
	}
	taken := map[stage]bool{}
	for _, s := range phpScripts {
		for _, name := range s.names {
			if _, there := phpScript(manifest["scripts"])[name]; there {
				d.hard(s.at, "composer run-script --timeout=0 "+name, "composer.json has a script "+name)
				taken[s.at] = true
				break
			}
		}
	}
	if config := files.first("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"); config != "" && !taken[atTypes] {
		d.soft(atTypes, "php vendor/bin/phpstan analyse --no-progress", config+" is there")
	}
	dev := texts(manifest["require-dev"])
	switch {
	case taken[atTest]:
	case dev["pestphp/pest"] != "":
		d.hard(atTest, "php vendor/bin/pest", "composer.json names pestphp/pest")
	case unit != "":
		d.hard(atTest, "php vendor/bin/phpunit", unit+" is there")
	case dev["phpunit/phpunit"] != "" && files.has("tests"):
		d.hard(atTest, "php vendor/bin/phpunit tests", "composer.json names phpunit/phpunit, and tests is there")
	}
	return d
}

// phpScript are the scripts by name: each is a text or a list of texts, which does not matter here.
func phpScript(object json.RawMessage) map[string]json.RawMessage {
	var scripts map[string]json.RawMessage
	_ = json.Unmarshal(object, &scripts)
	return scripts
}
