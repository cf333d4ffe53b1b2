package main

import (
	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/fixture"
)

func newDemo(s stdio) *cobra.Command {
	return &cobra.Command{Use: "demo", Short: "Watch a scripted agent meet the gate", Args: cobra.NoArgs}
}

// newDemoUpstream is the MCP server behind the demo.
func newDemoUpstream(s stdio) *cobra.Command {
	return &cobra.Command{
		Use: "demo-upstream", Hidden: true, DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if code := fixture.Run(c.Context(), args, s.in, s.out); code != 0 {
				return &exit{code, nil}
			}
			return nil
		},
	}
}
