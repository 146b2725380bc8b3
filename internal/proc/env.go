package proc

import (
	"slices"
	"strings"
)

// Allowed is what a process gets of our environment when nothing else is said: what builds and tools need to find their
// way, and nothing that opens a door. An entry is a name, or a prefix and a star.
var Allowed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM", "NO_COLOR",
	"FORCE_COLOR", "CI",
	"TMPDIR", "TMP", "TEMP", "XDG_*",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
	"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY",
	"GONOSUMDB",
	"GOTOOLCHAIN", "GOEXPERIMENT", "CGO_ENABLED",
	"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "NVM_DIR", "NODE_PATH", "NODE_OPTIONS", "PNPM_HOME", "BUN_INSTALL",
	"DENO_DIR",
	"JAVA_HOME", "JAVA_HOME_*", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "ANDROID_HOME",
	"ANDROID_SDK_ROOT",
	"DOTNET_ROOT", "PYENV_ROOT", "VIRTUAL_ENV", "PYTHONPATH", "CONDA_PREFIX", "UV_CACHE_DIR", "PIP_CACHE_DIR",
	"RBENV_ROOT", "GEM_HOME",
	"GEM_PATH", "BUNDLE_PATH", "PKG_CONFIG_PATH", "CC", "CXX",
	"SystemRoot", "SYSTEMROOT", "ComSpec", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ProgramFiles",
	"TREE_MARK_*", // the mark of a harness that we run in: its tree is not ours to hide from it
}

// never are the names that no list lets through: what the runner and the harness get is theirs.
var never = []string{"GITHUB_*", "ACTIONS_*", "RUNNER_*", "INPUT_*", "RALPH_*", "GH_TOKEN", "GH_ENTERPRISE_TOKEN"}

// secretive are parts of names that a starred entry does not let through; only the whole name in the list does.
var secretive = []string{"TOKEN", "SECRET", "PASSW", "CREDENTIAL", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY",
	"AUTH", "RALPH_NOTIFY"}

// Environment makes a process's whole environment: what allow lists of parent (NAME=value each), then extra (the same),
// where the last value of a name counts. extra is the caller's word and is not looked at.
func Environment(parent []string, allow []string, extra ...string) []string {
	var env []string
	at := map[string]int{}
	put := func(name, entry string) {
		if i, ok := at[name]; ok {
			env[i] = entry
			return
		}
		at[name] = len(env)
		env = append(env, entry)
	}
	for _, entry := range parent {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" && allowed(name, allow) {
			put(name, entry)
		}
	}
	for _, entry := range extra {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" {
			put(name, entry)
		}
	}
	return env
}

func allowed(name string, allow []string) bool {
	for _, pattern := range never {
		if matches(pattern, strings.ToUpper(name)) {
			return false
		}
	}
	return slices.ContainsFunc(allow, func(pattern string) bool {
		return matches(pattern, name) && (pattern == name || !NamesSecret(name))
	})
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return prefix != "" && strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// NamesSecret reports whether a variable of an environment has the name of a secret: GH_TOKEN, DATABASE_PASSWORD.
func NamesSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(secretive, func(part string) bool { return strings.Contains(name, part) })
}

// Value is what a name has in an environment, "" when it has nothing.
func Value(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}
