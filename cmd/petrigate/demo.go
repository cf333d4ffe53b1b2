package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/serve/demo"
)

const demoLimit = 30 * time.Second // time limit for the entire demo, in case something hangs

func newDemo(s stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Watch a scripted agent use a gated server",
		Long: "demo runs a scripted agent against a real proxy in front of a real MCP server, both built into this program,\n" +
			"and shows which calls pass. It needs no setup and no network, and leaves no files behind.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), demoLimit)
			defer cancel()
			// Keep running if the reader of the output, such as head, closes the pipe early. The
			// demo must still remove its files.
			defer daemon.OutlivePipes()()
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			return demo.Run(ctx, exe, s.out, newInk(s.out))
		},
	}
}

// newDemoUpstream returns the hidden command that runs the demo's MCP server.
func newDemoUpstream(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "demo-upstream", Short: "Run the demo's MCP server", Hidden: true, Args: cobra.NoArgs}
	record := c.Flags().String("record", "", "append the name of each tool called to `file`")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return demo.Serve(c.Context(), s.in, s.out, *record)
	}
	return c
}
