// Command schema checks dashboards against Grafana's schema, as the Grafana Foundation SDK has it: the fields, types and values of the dashboard, its
// panels with their options, and its queries. It prints each violation with its path, and exits with status 1 if there is one.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	failed := false
	for _, path := range os.Args[1:] {
		if err := check(path); err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

func check(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	board := dashboard.Dashboard{}
	if err := violations(board.UnmarshalJSONStrict(raw)); err != nil {
		return err
	}
	return violations(board.Validate())
}

// violations is nil for the empty list that the SDK returns as an error.
func violations(err error) error {
	var list cog.BuildErrors
	if errors.As(err, &list) && len(list) == 0 {
		return nil
	}
	return err
}
