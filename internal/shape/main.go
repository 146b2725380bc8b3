// Command shape measures the code: how wide structs are, what is exported for no other package, and which files call each
// other in a circle. It fails when a figure is worse than the one on record.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("shape", flag.ContinueOnError)
	root := flags.String("root", ".", "the module's directory")
	file := flags.String("record", "internal/shape/testdata/shape.json", "the figures on record")
	update := flags.Bool("update", false, "write the record")
	if err := flags.Parse(args); err != nil {
		return err
	}
	recorded, err := readRecord(*file)
	if err != nil {
		return err
	}
	found, err := measure(*root)
	if err != nil {
		return err
	}
	if *update {
		return writeRecord(*file, newRecord(found))
	}
	print(out, found)
	worse, better := recorded.compare(found)
	if better > 0 {
		fmt.Fprintf(out, "\n%d figures are better than recorded: keep them with make shape-update\n", better)
	}
	if len(worse) == 0 {
		return nil
	}
	list := worse
	if len(list) > shown {
		list = append(list[:shown:shown], fmt.Sprintf("… and %d more", len(worse)-shown))
	}
	return fmt.Errorf("%d figures are worse than recorded in %s:\n%s", len(worse), *file, strings.Join(list, "\n"))
}
