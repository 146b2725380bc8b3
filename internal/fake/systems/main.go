// Command systems checks that ralph's packages have the types they need on the systems that releases are built for,
// without compiling anything: its arguments are such systems, as "darwin/arm64".
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	for _, system := range os.Args[1:] {
		name, machine, _ := strings.Cut(system, "/")
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
				packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax,
			Env: append(os.Environ(), "GOOS="+name, "GOARCH="+machine, "CGO_ENABLED=0"),
		}, "./cmd/ralph")
		if err != nil {
			fmt.Fprintln(os.Stderr, "systems:", err)
			os.Exit(1)
		}
		if packages.PrintErrors(loaded) > 0 {
			fmt.Fprintln(os.Stderr, "systems: ralph does not compile for", system)
			os.Exit(1)
		}
	}
}
