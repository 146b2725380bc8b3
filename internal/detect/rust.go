package detect

// rustProject is a package or a workspace of cargo.
func rustProject(files topFiles) (d Result) {
	if !files.has("Cargo.toml") {
		return d
	}
	manifest := files.table("Cargo.toml", &d)
	all, why := "", "Cargo.toml is there"
	if manifest.has("workspace") {
		all, why = " --workspace", "Cargo.toml has a table workspace"
	}
	if name := files.first("rustfmt.toml", ".rustfmt.toml"); name != "" {
		d.soft(atFormat, "cargo fmt --all --check", name+" is there")
	}
	clippy := "cargo clippy" + all + " --all-targets"
	if name := files.first("clippy.toml", ".clippy.toml"); name != "" {
		d.soft(atLint, clippy, name+" is there")
	} else {
		for _, lints := range []string{"lints.clippy", "workspace.lints.clippy"} {
			if manifest.has(lints) {
				d.soft(atLint, clippy, "Cargo.toml has a table "+lints)
				break
			}
		}
	}
	d.hard(atBuild, "cargo build"+all, why)
	d.hard(atTest, "cargo test"+all, why)
	return d
}
