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
		Long: "lsp is a language server for editors, over standard input and output. It serves files of rules and reports\n" +
			"problems in petrigate.yaml and *.net.yaml. The policy of a file is that of the nearest petrigate.yaml that\n" +
			"lists it, or else the file alone. lsp never starts a server.",
		Args: cobra.NoArgs,
	}
	tools := c.Flags().String("tools", "", "complete and check names in rules with this recorded tool list (`file`, a response to tools/list)")
	c.Flags().Bool("stdio", true, "use standard input and output, the only transport; some editors pass this flag")
	c.RunE = func(c *cobra.Command, _ []string) error {
		r, err := s.configLoader(c)
		if err != nil {
			return err
		}
		o := lsp.Options{
			Version: versionString(), Running: runningTools, Base: daemon.StoredBases, Trusts: r.book.Trusts, Widened: policydiff.Widened,
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
