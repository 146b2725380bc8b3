package detect

// detectRow is a repository, as its top shows it, and what is made of it.
type detectRow struct {
	name   string // what there is; with doc, it is a row of docs/detection.md
	doc    bool
	files  map[string]string
	checks []string // a soft one begins with "~"
	setup  string
	notes  []string // what each begins with
}

func rows(lists ...[]detectRow) (all []detectRow) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

type top = map[string]string

var detectRows = rows(ownerRows, goRows, nodeRows, pythonRows, otherRows, nativeRows)

var ownerRows = []detectRow{
	{name: "nothing", files: top{"README.md": ""}},
	{name: "`Makefile` with targets `lint` and `test`", doc: true, files: top{"Makefile": "all: build\nlint test: build\n\tgo test\n", "go.mod": "module x\n"}, checks: []string{"make lint", "make test"}},
	{name: "`Makefile` with a target `check`", doc: true, files: top{"Makefile": "check:\n\tgo test\n", "go.mod": "module x\n"}, checks: []string{"make check"}},
	{name: "`Makefile` with a target `ci`, and neither `check` nor `test`", doc: true, files: top{"Makefile": "lint:\n\ttrue\nci: lint\n\ttrue\n"}, checks: []string{"make ci"}},
	{name: "ci beside test", files: top{"Makefile": "test:\n\ttrue\nci: test\n\ttrue\n"}, checks: []string{"make test"}},
	{name: "check and test", files: top{"Makefile": "check:\n\ttrue\n.PHONY: test\ntest ::\n\ttrue"}, checks: []string{"make check", "make test"}},
	{name: "an assignment is no target", files: top{"Makefile": "test := 1\ncheck ::= 2\nlint = 3\n"}},
	{name: "a recipe line is no target", files: top{"Makefile": "all:\n\ttest: no\n"}},
	{name: ".PHONY alone is no target", files: top{"Makefile": ".PHONY: test\n"}},
	{name: "a last line without an end", files: top{"GNUmakefile": "test:"}, checks: []string{"make test"}},
	{name: "the file that make takes", files: top{"GNUmakefile": "lint:\n", "Makefile": "test:\n"}, checks: []string{"make lint"}},
	{name: "a Makefile without test loses", files: top{"Makefile": "lint:\n\ttrue\n", "go.mod": "module x\n"}, checks: []string{"go build ./...", "go vet ./...", "go test ./..."}},
	{name: "a Makefile without test is better than nothing", files: top{"Makefile": "lint:\n\ttrue\n"}, checks: []string{"make lint"}},
	{name: "`Makefile` with a target `build`, and nothing else", doc: true, files: top{"Makefile": "build:\n\tcc x.c\n"}, checks: []string{"make build"}},
	{name: "`Makefile` with a target `all` beside sources of C or C++", doc: true, files: top{"Makefile": "all: x\nx: x.c\n", "x.c": "int x;"}, checks: []string{"make all"}},
	{name: "`justfile` with recipes `lint` and `test`", doc: true, files: top{"justfile": "default: test\nlint:\n  cargo clippy\n@test *args:\n  cargo test {{args}}\n", "Cargo.toml": "[package]\n"}, checks: []string{"just lint", "just test"}},
	{name: "a recipe that wants an argument", files: top{"justfile": "test name:\n  cargo test {{name}}\ncheck level='1':\n  x\n"}, checks: []string{"just check"}},
	{name: "an alias of a recipe", files: top{".justfile": "alias test := unit\nunit:\n  x\nlint := 'a'\n"}, checks: []string{"just test"}},
	{name: "`Taskfile.yml` with tasks `lint` and `test`", doc: true, files: top{"Taskfile.yml": "version: '3'\nvars:\n  test: 1\ntasks:\n  # all\n  lint: golangci-lint run\n  \"test\":\n    deps: [lint]\n    cmds:\n      - go test ./...\n", "go.mod": "module x\n"}, checks: []string{"task lint", "task test"}},
	{name: "an internal task", files: top{"Taskfile.dist.yaml": "tasks:\n    test:\n        internal: true\n    check:\n        cmds: [x]\nincludes:\n    lint: x\n"}, checks: []string{"task check"}},
	{name: "a Makefile before a justfile", files: top{"Makefile": "test:\n", "justfile": "test:\n"}, checks: []string{"make test"}},
	{name: "a justfile that tests before a Makefile that does not", files: top{"Makefile": "build:\n", "justfile": "test:\n"}, checks: []string{"just test"}},
	{name: "an owner's word, with a lock file", files: top{"Makefile": "test:\n\tnpm test\n", "package.json": `{"scripts":{"test":"x"}}`, "package-lock.json": "{}"}, checks: []string{"make test"}, setup: "npm ci"},
	{name: "an owner's word, without one", files: top{"Makefile": "test:\n\tpytest\n", "requirements.txt": "flask\n", "tests": ""}, checks: []string{"make test"}},
}

var goRows = []detectRow{
	{name: "`go.mod`", doc: true, files: top{"go.mod": "module x\n"}, checks: []string{"go build ./...", "go vet ./...", "go test ./..."}},
	{name: "`go.mod` and `.golangci.yml`", doc: true, files: top{"go.mod": "module x\n", ".golangci.yml": ""}, checks: []string{"~golangci-lint run ./...", "go build ./...", "go vet ./...", "go test ./..."}},
	{name: "`go.work` with several modules", doc: true, files: top{"go.work": "go 1.24\n\nuse (\n\t./api // the server\n\t./lib/core/\n)\nreplace (\n\tx => ./x\n)\n"},
		checks: []string{"go build ./api/... ./lib/core/...", "go vet ./api/... ./lib/core/...", "go test ./api/... ./lib/core/..."}},
	{name: "go.work with the top", files: top{"go.work": "use .\nuse \"./api\"\n", "go.mod": "module x\n"}, checks: []string{"go build ./... ./api/...", "go vet ./... ./api/...", "go test ./... ./api/..."}},
	{name: "go.work with a hostile directory", files: top{"go.work": "use ./a;reboot\n", "go.mod": "module x\n"}, checks: []string{"go build ./...", "go vet ./...", "go test ./..."}, notes: []string{"go.work uses no directory"}},
	{name: "go.work that leads out", files: top{"go.work": "use ../other\n"}, notes: []string{"go.work uses no directory"}},
	{name: "go.work with an option", files: top{"go.work": "use ./-exec=sh\n"}, notes: []string{"go.work uses no directory"}},
}

const testScript = `{"scripts":{"test":"node --test"}}`

var nodeRows = []detectRow{
	{name: "`package.json` with scripts, and `package-lock.json`: npm", doc: true, files: top{"package.json": `{"scripts":{"test":"node --test","lint":"eslint .","start":"x","build":"tsc","typecheck":"tsc --noEmit","format:check":"prettier -c ."}}`, "package-lock.json": ""},
		checks: []string{"npm run format:check", "npm run lint", "npm run typecheck", "npm run build", "npm run test"}, setup: "npm ci"},
	{name: "`package.json` and `pnpm-lock.yaml`", doc: true, files: top{"package.json": testScript, "pnpm-lock.yaml": ""}, checks: []string{"pnpm run test"}, setup: "pnpm install --frozen-lockfile"},
	{name: "`package.json` and `yarn.lock`", doc: true, files: top{"package.json": testScript, "yarn.lock": "# yarn lockfile v1\n"}, checks: []string{"yarn run test"}, setup: "yarn install --frozen-lockfile"},
	{name: "`package.json` and `yarn.lock` of yarn 2 or later", doc: true, files: top{"package.json": testScript, "yarn.lock": "# x\n\n__metadata:\n  version: 8\n"}, checks: []string{"yarn run test"}, setup: "yarn install --immutable"},
	{name: "yarn berry by its file", files: top{"package.json": testScript, "yarn.lock": "", ".yarnrc.yml": ""}, checks: []string{"yarn run test"}, setup: "yarn install --immutable"},
	{name: "yarn berry by the field", files: top{"package.json": `{"packageManager":"yarn@4.9.1","scripts":{"test":"x"}}`, "yarn.lock": ""}, checks: []string{"yarn run test"}, setup: "yarn install --immutable"},
	{name: "yarn classic by the field", files: top{"package.json": `{"packageManager":"yarn@1.22.22","scripts":{"test":"x"}}`, "yarn.lock": "", ".yarnrc.yml": ""}, checks: []string{"yarn run test"}, setup: "yarn install --frozen-lockfile"},
	{name: "`package.json` and `bun.lock` or `bun.lockb`", doc: true, files: top{"package.json": testScript, "bun.lock": ""}, checks: []string{"bun run test"}, setup: "bun install --frozen-lockfile"},
	{name: "bun's older lock file", files: top{"package.json": testScript, "bun.lockb": ""}, checks: []string{"bun run test"}, setup: "bun install --frozen-lockfile"},
	{name: "`package.json` with `packageManager`, whatever lock file there is", doc: true, files: top{"package.json": `{"packageManager":"pnpm@9.1.0+sha512.abc","scripts":{"test":"x"}}`, "package-lock.json": "", "pnpm-lock.yaml": ""}, checks: []string{"pnpm run test"}, setup: "pnpm install --frozen-lockfile"},
	{name: "a packageManager that nobody knows", files: top{"package.json": `{"packageManager":"evil; rm -rf /@1","scripts":{"test":"x"}}`, "yarn.lock": ""}, checks: []string{"yarn run test"}, setup: "yarn install --frozen-lockfile"},
	{name: "a packageManager that is no text", files: top{"package.json": `{"packageManager":1,"scripts":{"test":"x","lint":["y"]}}`}, checks: []string{"npm run test"}},
	{name: "`package.json` without a lock file", doc: true, files: top{"package.json": `{"devDependencies":{"typescript":"^5"},"scripts":{"build":"tsc","type-check":"tsc --noEmit"}}`}, checks: []string{"npm run type-check", "npm run build"}, setup: "npm install --no-package-lock"},
	{name: "no dependencies", files: top{"package.json": `{"scripts":{"build":"x"}}`}, checks: []string{"npm run build"}},
	{name: "npm init's own test", files: top{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}},
	{name: "a broken package.json", files: top{"package.json": `{`}, notes: []string{"package.json is no JSON object"}},
	{name: "a list for a package.json", files: top{"package.json": `[]`, "go.mod": ""}, checks: []string{"go build ./...", "go vet ./...", "go test ./..."}, notes: []string{"package.json is no JSON object"}},
	{name: "a script `test` that is plain `vitest`, or `react-scripts test`", doc: true, files: top{"package.json": `{"scripts":{"test":"vitest"}}`}, checks: []string{"CI=true npm run test"}},
	{name: "react-scripts", files: top{"package.json": `{"scripts":{"test":"react-scripts test"}}`, "yarn.lock": ""}, checks: []string{"CI=true yarn run test"}, setup: "yarn install --frozen-lockfile"},
	{name: "vitest that ends", files: top{"package.json": `{"scripts":{"test":"vitest run --coverage"}}`}, checks: []string{"npm run test"}},
	{name: "`jest --watch` or `--watchAll`", doc: true, files: top{"package.json": `{"scripts":{"test":"jest --watch"}}`}, checks: []string{"npm run test -- --watch=false --watchAll=false"}},
	{name: "pnpm gives arguments on as they are", files: top{"package.json": `{"scripts":{"test":"jest --watchAll"}}`, "pnpm-lock.yaml": ""}, checks: []string{"pnpm run test --watch=false --watchAll=false"}, setup: "pnpm install --frozen-lockfile"},
	{name: "`vitest --watch` or `vitest watch`", doc: true, files: top{"package.json": `{"scripts":{"test":"vitest watch"}}`}, checks: []string{"npm run test -- --run"}},
	{name: "`ng test`", doc: true, files: top{"package.json": `{"scripts":{"test":"ng test"}}`}, checks: []string{"npm run test -- --watch=false"}},
	{name: "karma", files: top{"package.json": `{"scripts":{"test":"karma start"}}`}, checks: []string{"npm run test -- --single-run"}},
	{name: "a script `test` that waits for changes, and `test:ci`", doc: true, files: top{"package.json": `{"scripts":{"test":"jest --watch","test:ci":"jest --ci"}}`}, checks: []string{"npm run test:ci"}},
	{name: "a watcher among others", files: top{"package.json": `{"scripts":{"test":"tsc && jest --watch"}}`}, notes: []string{"the script test of package.json waits"}},
	{name: "a watcher that nobody knows", files: top{"package.json": `{"scripts":{"test":"nodemon --exec 'node --test'"}}`}, notes: []string{"the script test of package.json waits"}},
	{name: "workspaces without scripts", files: top{"package.json": `{"workspaces":["packages/*"]}`, "package-lock.json": ""}, setup: "npm ci", notes: []string{"package.json has workspaces"}},
	{name: "`deno.json` or `deno.jsonc` with tasks", doc: true, files: top{"deno.jsonc": "{\n // ours\n \"tasks\": {\"lint\": \"deno lint\", \"test\": {\"command\": \"deno test\"}},\n}"}, checks: []string{"deno task lint", "deno task test"}},
	{name: "`deno.json` without a task `test`", doc: true, files: top{"deno.json": "{}"}, checks: []string{"deno test --allow-all"}},
	{name: "a broken deno.json", files: top{"deno.json": "tasks"}, notes: []string{"deno.json is no JSON object"}},
}

var pythonRows = []detectRow{
	{name: "`tox.ini`, `tox.toml`, or tox in `pyproject.toml` or `setup.cfg`", doc: true, files: top{"tox.ini": "", "pyproject.toml": "[tool.pytest.ini_options]"}, checks: []string{"tox --skip-missing-interpreters true"}},
	{name: "tox in pyproject.toml", files: top{"pyproject.toml": "[tool.tox]\nenv_list = ['3.12']\n"}, checks: []string{"tox --skip-missing-interpreters true"}},
	{name: "tox in setup.cfg", files: top{"setup.cfg": "[metadata]\n[tox:tox]\n"}, checks: []string{"tox --skip-missing-interpreters true"}},
	{name: "`noxfile.py`", doc: true, files: top{"noxfile.py": "", "uv.lock": ""}, checks: []string{"nox --no-error-on-missing-interpreters"}},
	{name: "pytest in `pyproject.toml`, `pytest.ini`, `setup.cfg`, `conftest.py` or a requirements file", doc: true, files: top{"pyproject.toml": "[build-system]\nrequires=['hatchling']\n[project]\nname='x'\n[project.optional-dependencies]\ntest=['pytest>=8']\n"}, checks: []string{"python3 -m pytest"}, setup: "python3 -m pip install -e '.[test]'"},
	{name: "pytest's own table", files: top{"pyproject.toml": "[tool.pytest.ini_options]\naddopts='-q'"}, checks: []string{"python3 -m pytest"}},
	{name: "pytest of a group", files: top{"pyproject.toml": "[dependency-groups]\ndev = ['pytest-cov', 'pytest ~= 8.0']"}, checks: []string{"python3 -m pytest"}},
	{name: "pytest-cov is not pytest", files: top{"pyproject.toml": "[dependency-groups]\ndev = ['pytest-cov']"}},
	{name: "pyproject.toml without tests", files: top{"pyproject.toml": "[project]\nname='x'"}},
	{name: "pytest.ini", files: top{"pytest.ini": ""}, checks: []string{"python3 -m pytest"}},
	{name: "pytest in setup.cfg", files: top{"setup.cfg": "[options.extras_require]\ntest =\n    pytest>=7\n", "setup.py": ""}, checks: []string{"python3 -m pytest"}, setup: "python3 -m pip install -e ."},
	{name: "pytest among requirements", files: top{"requirements.txt": "flask\n", "requirements-dev.txt": "-r requirements.txt\npytest==8.1\n"}, checks: []string{"python3 -m pytest"}, setup: "python3 -m pip install -r requirements.txt -r requirements-dev.txt"},
	{name: "pytest and `uv.lock`", doc: true, files: top{"pyproject.toml": "[project]\nname='x'\n[dependency-groups]\ndev=['pytest']\n", "uv.lock": ""}, checks: []string{"uv run pytest"}, setup: "uv sync --all-extras --all-groups"},
	{name: "pytest and `poetry.lock`", doc: true, files: top{"pyproject.toml": "[tool.poetry.group.dev.dependencies]\npytest = '^8'\n", "poetry.lock": ""}, checks: []string{"poetry run pytest"}, setup: "poetry install --all-extras"},
	{name: "poetry without a lock file", files: top{"pyproject.toml": "[tool.poetry.dev-dependencies]\npytest = '*'\n"}, checks: []string{"poetry run pytest"}, setup: "poetry install --all-extras"},
	{name: "pytest and `pdm.lock`", doc: true, files: top{"pyproject.toml": "[tool.pdm.dev-dependencies]\ntest=['pytest']\n", "pdm.lock": ""}, checks: []string{"pdm run pytest"}, setup: "pdm install"},
	{name: "pytest and `Pipfile`", doc: true, files: top{"Pipfile": "[dev-packages]\npytest = '*'\n"}, checks: []string{"pipenv run pytest"}, setup: "pipenv install --dev"},
	{name: "pytest and hatch's environments", doc: true, files: top{"pyproject.toml": "[tool.hatch.envs.default]\ndependencies=['pytest']\n"}, checks: []string{"hatch test"}},
	{name: "`tests` or `test` beside a project of Python in which nothing names pytest", doc: true, files: top{"pyproject.toml": "", "tests": ""}, checks: []string{"python3 -m unittest discover -s tests"}},
	{name: "unittest and uv", files: top{"setup.py": "", "test": "", "uv.lock": ""}, checks: []string{"uv run python -m unittest discover -s test"}, setup: "uv sync --all-extras --all-groups"},
	{name: "`manage.py` of Django, and nothing names pytest", doc: true, files: top{"manage.py": "", "requirements.txt": "django\n"}, checks: []string{"python3 manage.py test"}, setup: "python3 -m pip install -r requirements.txt"},
	{name: "ruff or mypy in `pyproject.toml` or files of their own", doc: true, files: top{"pyproject.toml": "[tool.ruff]\n[tool.mypy]\nstrict=true\n[tool.pytest.ini_options]\n"}, checks: []string{"~python3 -m ruff check .", "~python3 -m mypy .", "python3 -m pytest"}},
	{name: "ruff.toml and mypy in setup.cfg", files: top{"ruff.toml": "", "setup.cfg": "[mypy]\n[tool:pytest]\n", "uv.lock": ""}, checks: []string{"~uv run ruff check .", "~uv run mypy .", "uv run pytest"}, setup: "uv sync --all-extras --all-groups"},
	{name: "a broken pyproject.toml", files: top{"pyproject.toml": "[tool.pytest", "pytest.ini": ""}, checks: []string{"python3 -m pytest"}, notes: []string{"pyproject.toml is no TOML"}, setup: ""},
	{name: "tests of something else", files: top{"tests": ""}},
}

var otherRows = []detectRow{
	{name: "`Cargo.toml`", doc: true, files: top{"Cargo.toml": "[package]\nname='x'\n"}, checks: []string{"cargo build", "cargo test"}},
	{name: "`Cargo.toml` with a workspace", doc: true, files: top{"Cargo.toml": "[workspace]\nmembers=['a']\n"}, checks: []string{"cargo build --workspace", "cargo test --workspace"}},
	{name: "`rustfmt.toml`, `clippy.toml`, or lints of clippy in `Cargo.toml`", doc: true, files: top{"Cargo.toml": "[package]\n[lints.clippy]\nall='warn'\n", "rustfmt.toml": ""}, checks: []string{"~cargo fmt --all --check", "~cargo clippy --all-targets", "cargo build", "cargo test"}},
	{name: "clippy.toml in a workspace", files: top{"Cargo.toml": "[workspace]\n", ".clippy.toml": ""}, checks: []string{"~cargo clippy --workspace --all-targets", "cargo build --workspace", "cargo test --workspace"}},
	{name: "a broken Cargo.toml", files: top{"Cargo.toml": "[["}, checks: []string{"cargo build", "cargo test"}, notes: []string{"Cargo.toml is no TOML"}},
	{name: "`pom.xml`", doc: true, files: top{"pom.xml": ""}, checks: []string{"mvn -B verify"}},
	{name: "`pom.xml` and `mvnw`", doc: true, files: top{"pom.xml": "", "mvnw": ""}, checks: []string{"sh ./mvnw -B verify"}},
	{name: "`build.gradle`, `build.gradle.kts`, or their settings", doc: true, files: top{"build.gradle": ""}, checks: []string{"gradle check"}},
	{name: "a build of Gradle and `gradlew`", doc: true, files: top{"build.gradle.kts": "", "gradlew": ""}, checks: []string{"sh ./gradlew check"}},
	{name: "`Rakefile` with a task `test` or `spec`", doc: true, files: top{"Rakefile": "require 'rake/testtask'\nRake::TestTask.new do |t|\nend\n", "Gemfile": "source 'x'\n", "Gemfile.lock": ""}, checks: []string{"bundle exec rake test"}, setup: "bundle install"},
	{name: "a task spec", files: top{"Rakefile": "RSpec::Core::RakeTask.new(:spec)\ntask default: :spec\n"}, checks: []string{"rake spec"}},
	{name: "minitest's task", files: top{"Rakefile": "Minitest::TestTask.create\n", "Gemfile": ""}, checks: []string{"bundle exec rake test"}, setup: "bundle install"},
	{name: "`.rspec`, or `Gemfile` with rspec", doc: true, files: top{"Gemfile": "gem 'rspec', '~> 3'\n", "spec": "", "Gemfile.lock": ""}, checks: []string{"bundle exec rspec"}, setup: "bundle install"},
	{name: "rspec without bundler", files: top{".rspec": ""}, checks: []string{"rspec"}},
	{name: "`Gemfile` with rails, and `test`", doc: true, files: top{"Gemfile": "gem \"rails\", \"~> 8\"\n", "Rakefile": "Rails.application.load_tasks\n", "test": "", "Gemfile.lock": ""}, checks: []string{"bundle exec rails test"}, setup: "bundle install"},
	{name: "`.rubocop.yml`, or `Gemfile` with rubocop", doc: true, files: top{"Gemfile": "gem 'rspec'\ngem 'rubocop'\n", "Gemfile.lock": ""}, checks: []string{"~bundle exec rubocop", "bundle exec rspec"}, setup: "bundle install"},
	{name: "`composer.json` with scripts", doc: true, files: top{"composer.json": `{"scripts":{"lint":"php-cs-fixer","test":["@lint","phpunit"]}}`, "composer.lock": "", "phpunit.xml": ""}, checks: []string{"composer run-script --timeout=0 lint", "composer run-script --timeout=0 test"}, setup: "composer install --no-interaction"},
	{name: "`phpunit.xml` or `phpunit.xml.dist`, and no script `test`", doc: true, files: top{"composer.json": `{}`, "phpunit.xml.dist": ""}, checks: []string{"php vendor/bin/phpunit"}, setup: "composer install --no-interaction"},
	{name: "`composer.json` with Pest", doc: true, files: top{"composer.json": `{"require-dev":{"pestphp/pest":"^3"}}`, "phpunit.xml": "", "composer.lock": ""}, checks: []string{"php vendor/bin/pest"}, setup: "composer install --no-interaction"},
	{name: "`phpstan.neon`", doc: true, files: top{"composer.json": `{}`, "phpstan.neon": "", "phpunit.xml": "", "composer.lock": ""}, checks: []string{"~php vendor/bin/phpstan analyse --no-progress", "php vendor/bin/phpunit"}, setup: "composer install --no-interaction"},
	{name: "a broken composer.json", files: top{"composer.json": `"x"`}, notes: []string{"composer.json is no JSON object"}},
	{name: "one `.sln` or `.slnx`, or one project, of .NET", doc: true, files: top{"Shop.slnx": ""}, checks: []string{"dotnet build", "dotnet test"}},
	{name: "a project", files: top{"x.fsproj": ""}, checks: []string{"dotnet build", "dotnet test"}},
	{name: "a solution beside projects", files: top{"Shop.sln": "", "Shop.csproj": ""}, checks: []string{"dotnet build Shop.sln", "dotnet test Shop.sln"}},
	{name: "several solutions", files: top{"A.sln": "", "B.sln": ""}, notes: []string{"several solutions"}},
	{name: "a hostile solution", files: top{"$(reboot).sln": "", "a.csproj": ""}, notes: []string{"the solution or project of .NET"}},
	{name: "`mix.exs`", doc: true, files: top{"mix.exs": "", "mix.lock": "", ".formatter.exs": "", ".credo.exs": ""}, checks: []string{"~mix format --check-formatted", "~mix credo", "mix test"}, setup: "mix local.hex --force --if-missing && mix deps.get"},
	{name: "`pubspec.yaml`", doc: true, files: top{"pubspec.yaml": "name: x\n", "test": "", "analysis_options.yaml": ""}, checks: []string{"~dart analyze", "dart test"}, setup: "dart pub get"},
	{name: "`pubspec.yaml` with flutter", doc: true, files: top{"pubspec.yaml": "dependencies:\n  flutter:\n    sdk: flutter\n", "test": "", "pubspec.lock": ""}, checks: []string{"flutter test"}, setup: "flutter pub get"},
	{name: "`Package.swift`", doc: true, files: top{"Package.swift": "", "Tests": ""}, checks: []string{"swift build", "swift test"}},
	{name: "Swift without tests", files: top{"Package.swift": ""}, checks: []string{"swift build"}},
	{name: "`build.sbt`", doc: true, files: top{"build.sbt": ""}, checks: []string{"sbt -batch test"}},
	{name: "`stack.yaml`", doc: true, files: top{"stack.yaml": ""}, checks: []string{"stack test"}},
	{name: "`cabal.project`", doc: true, files: top{"cabal.project": ""}, checks: []string{"cabal test all"}, setup: "cabal update"},
	{name: "`build.zig`", doc: true, files: top{"build.zig": ""}, checks: []string{"zig build test"}},
	{name: "`MODULE.bazel` or `WORKSPACE.bazel`", doc: true, files: top{"MODULE.bazel": ""}, checks: []string{"bazel test //..."}},
	{name: "`project.clj`", doc: true, files: top{"project.clj": ""}, checks: []string{"lein test"}},
	{name: "`rebar.config`", doc: true, files: top{"rebar.config": ""}, checks: []string{"rebar3 eunit"}},
	{name: "`gleam.toml`", doc: true, files: top{"gleam.toml": ""}, checks: []string{"gleam test"}},
	{name: "`.pre-commit-config.yaml`", doc: true, files: top{"go.mod": "", ".pre-commit-config.yaml": ""}, checks: []string{"~pre-commit run --all-files", "go build ./...", "go vet ./...", "go test ./..."}},
	{name: "pre-commit keeps a Makefile's lint", files: top{"Makefile": "lint:\n", ".pre-commit-config.yaml": ""}, checks: []string{"make lint", "~pre-commit run --all-files"}},
	{name: "several kinds: all of them", doc: true, files: top{"go.mod": "", "package.json": `{"scripts":{"lint":"x","test":"y"}}`, "package-lock.json": ""}, checks: []string{"npm run lint", "go build ./...", "go vet ./...", "go test ./...", "npm run test"}, setup: "npm ci"},
	{name: "several installations", files: top{"package.json": testScript, "package-lock.json": "", "uv.lock": "", "pytest.ini": ""}, checks: []string{"npm run test", "uv run pytest"}, setup: "npm ci && uv sync --all-extras --all-groups"},
}

const cmakeDir = "cmake -S . -B build && cmake --build build"

var nativeRows = []detectRow{
	{name: "`CMakeLists.txt` that enables tests", doc: true, files: top{"CMakeLists.txt": "project(x C)\nenable_testing()\n"}, checks: []string{cmakeDir + " && ctest --test-dir build --output-on-failure"}},
	{name: "CTest", files: top{"CMakeLists.txt": "  include( CTest )\n", "build": ""}, checks: []string{"cmake -S . -B build-ralph && cmake --build build-ralph && ctest --test-dir build-ralph --output-on-failure"}},
	{name: "`CMakeLists.txt` that does not", doc: true, files: top{"CMakeLists.txt": "project(x C)\n# enable_testing()\n"}, checks: []string{cmakeDir}},
	{name: "`CMakePresets.json` with a workflow", doc: true, files: top{"CMakeLists.txt": "", "CMakePresets.json": `{"workflowPresets":[{"name":"release"},{"name":"ci"}]}`}, checks: []string{"cmake --workflow --preset ci"}},
	{name: "`CMakePresets.json` with presets to configure, build and test", doc: true, files: top{"CMakeLists.txt": "", "CMakePresets.json": `{"configurePresets":[{"name":"base","hidden":true},{"name":"dev"}],"buildPresets":[{"name":"dev-build","configurePreset":"dev"}],"testPresets":[{"name":"dev-test","configurePreset":"dev"}]}`},
		checks: []string{"cmake --preset dev && cmake --build --preset dev-build && ctest --preset dev-test"}},
	{name: "presets to build", files: top{"CMakeLists.txt": "", "CMakePresets.json": `{"configurePresets":[{"name":"x"}],"buildPresets":[{"name":"x","configurePreset":"x"}]}`}, checks: []string{"cmake --preset x && cmake --build --preset x"}},
	{name: "presets that nothing chooses", files: top{"CMakeLists.txt": "", "CMakePresets.json": `{"configurePresets":[{"name":"gcc"},{"name":"msvc"}]}`}, checks: []string{cmakeDir}},
	{name: "hostile presets", files: top{"CMakeLists.txt": "", "CMakePresets.json": `{"workflowPresets":[{"name":"$(reboot)"},{"name":"--debugger"}]}`}, checks: []string{cmakeDir}},
	{name: "broken presets", files: top{"CMakeLists.txt": "", "CMakePresets.json": `{`}, checks: []string{cmakeDir}, notes: []string{"CMakePresets.json is no JSON object"}},
	{name: "`meson.build`", doc: true, files: top{"meson.build": ""}, checks: []string{"meson setup build && meson test -C build --print-errorlogs"}},
	{name: "`configure.ac`", doc: true, files: top{"configure.ac": "", "Makefile.am": ""}, checks: []string{"autoreconf -fi && sh ./configure && make check"}},
	{name: "`configure` beside it", doc: true, files: top{"configure.ac": "", "configure": ""}, checks: []string{"sh ./configure && make check"}},
}
