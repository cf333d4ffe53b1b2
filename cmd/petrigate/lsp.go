package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/lsp"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

func newLSP(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors: mistakes as you type, completion, hover, formatting",
		Long: "lsp is a language server: an editor starts it and speaks with it over standard input and output. It\n" +
			"serves files of rules, and finds mistakes in petrigate.yaml and *.net.yaml too. The policy of a file is that\n" +
			"of the nearest petrigate.yaml that lists it, else the file alone. It never starts a server.",
		Args: cobra.NoArgs,
	}
	tools := c.Flags().String("tools", "", "a recorded tool list (`file`), as tools/list gives it: its names are completed, and names in rules held against it")
	c.Flags().Bool("stdio", true, "speak over standard input and output, as some editors ask for; there is no other way")
	c.RunE = func(c *cobra.Command, _ []string) error {
		r, err := s.configLoader(c)
		if err != nil {
			return err
		}
		o := lsp.Options{
			Version: versionString(), Running: runningTools, Base: daemon.Kept, Trusts: r.book.Trusts, Widened: policydiff.Widened,
			Lint: func(cfg *config.Config) diag.List {
				return slices.Concat(daemon.TLSProblems(cfg, diag.Warning), daemon.TokenProblems(cfg))
			},
		}
		if *tools != "" {
			list, err := recordedTools(*tools)
			if err != nil {
				return err
			}
			o.Tools = list
		}
		return lsp.Serve(c.Context(), s.in, s.out, o)
	}
	return c
}
