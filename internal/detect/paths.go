package detect

import (
	"path"
	"slices"
	"strings"
)

// DependencyDirs are the names of directories in which tools install what a project depends on.
var DependencyDirs = []string{"node_modules", "bower_components", "jspm_packages", ".venv", "venv", "vendor", ".bundle",
	"Pods", "deps", "elm-stuff", ".dart_tool", ".pnp"}

// rebuiltDirs are the names of directories that tools make again from what is committed.
var rebuiltDirs = slices.Concat(DependencyDirs, []string{
	OwnEnvironment,
	"__pycache__", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".eggs", "htmlcov", "target",
	"dist", "out", ".next", ".nuxt",
	".svelte-kit", ".turbo", ".nx", ".vite", ".parcel-cache", ".gradle", ".mvn", "coverage", ".nyc_output", "_build",
	".stack-work", "bin", "obj", ".idea",
	".vscode", ".ralph", ".ralph-active", ".ralph_state.md", ".ralph.lock", ".git", ".claude", ".codex", ".gemini",
	".opencode",
})

// rebuiltEndings are those of files that tools make again, or that nothing is built from.
var rebuiltEndings = []string{".pyc", ".pyo", ".o", ".obj", ".a", ".so", ".class", ".log", ".tmp", ".swp",
	".tsbuildinfo", ".DS_Store", ".coverage", "~"}

// Rebuilt reports whether a path is one that tools make again from what is committed, or keep for themselves.
func Rebuilt(name string) bool {
	parts := strings.Split(strings.TrimSuffix(name, "/"), "/")
	for _, part := range parts {
		if slices.Contains(rebuiltDirs, part) || strings.HasSuffix(part, ".egg-info") {
			return true
		}
	}
	base := parts[len(parts)-1]
	return slices.ContainsFunc(rebuiltEndings, func(ending string) bool { return strings.HasSuffix(base, ending) })
}

// sourceEndings are those of files that people write and programs are built from.
var sourceEndings = []string{
	".go", ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".rs", ".rb",
	".java", ".kt", ".kts", ".scala", ".groovy",
	".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".mm", ".swift", ".cs", ".fs", ".vb", ".php", ".pl", ".pm", ".lua",
	".sh", ".bash", ".ex", ".exs", ".erl", ".hs",
	".ml", ".mli", ".clj", ".dart", ".zig", ".nim", ".r", ".jl", ".sql", ".proto", ".graphql", ".css", ".scss", ".html",
	".json", ".yaml", ".yml", ".toml", ".xml",
}

// Source reports whether a path may be a file that someone has written.
func Source(name string) bool {
	return slices.Contains(sourceEndings, strings.ToLower(path.Ext(name)))
}

// setupReads are the names of files by which tools decide what to install.
var setupReads = []string{
	"go.mod", "go.sum", "go.work", "go.work.sum",
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml",
	"bun.lock", "bun.lockb", ".npmrc", ".yarnrc",
	".yarnrc.yml", ".nvmrc", ".node-version", "lerna.json", "deno.json", "deno.jsonc", "deno.lock",
	"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "Pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock",
	"environment.yml", ".python-version", "MANIFEST.in", "tox.ini",
	"Cargo.toml", "Cargo.lock", "rust-toolchain", "rust-toolchain.toml",
	"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.lockfile",
	"gradle.properties", "libs.versions.toml",
	"gradle-wrapper.properties", "build.sbt",
	"Gemfile", "Gemfile.lock", ".ruby-version", "composer.json", "composer.lock",
	"packages.lock.json", "Directory.Packages.props", "Directory.Build.props", "global.json", "nuget.config",
	"NuGet.config", "paket.dependencies", "paket.lock",
	"conanfile.txt", "conanfile.py", "vcpkg.json", "meson.build", "mix.exs", "mix.lock", "rebar.config", "rebar.lock",
	"pubspec.yaml", "pubspec.lock",
	"Package.swift", "Package.resolved", "Podfile", "Podfile.lock", "cpanfile", "cpanfile.snapshot", "stack.yaml",
	"stack.yaml.lock", "cabal.project", "flake.lock",
	".tool-versions", "mise.toml",
}

// SetupReads reports whether a file's name is one by which tools decide what to install: a manifest or a lock file.
func SetupReads(base string) bool {
	switch ext := path.Ext(base); {
	case slices.Contains(setupReads, base):
		return true
	case ext == ".txt":
		return strings.HasPrefix(base, "requirements") || strings.HasPrefix(base, "constraints") ||
			strings.HasSuffix(base, "requirements.txt")
	default:
		return slices.Contains([]string{".gemspec", ".csproj", ".fsproj", ".vbproj", ".sln", ".cabal", ".podspec"}, ext)
	}
}
