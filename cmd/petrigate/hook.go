package main

import (
	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/runtime/hook"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
)

func newHook(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "hook AGENT", Short: "Gate an agent's built-in tools, as its hook", Args: cobra.ExactArgs(1), ValidArgs: hook.Names()}
	c.Long = "hook is the command that an agent runs for its hook events. It reads an event, has the running proxy decide on\n" +
		"the call or record its outcome, and prints the answer in the agent's format. If no proxy answers, the call is\n" +
		"refused. docs/hooks.md shows what to add to each agent's files.\n" +
		"\n" +
		"AGENT is " + text.Join(hook.Names(), "or") + "."
	session := c.Flags().String("session", "", "use the session with this `name` instead of the event's session")
	servers := c.Flags().StringArray("server", nil, "the agent's `name` for petrigate as an MCP server (default petrigate); the proxy itself gates calls to that server")
	c.RunE = func(c *cobra.Command, args []string) error {
		file, _ := c.Flags().GetString("config")
		code := control.HookRun{
			Dir: daemon.RuntimeDir(), Agent: args[0], Session: *session, Servers: *servers, Config: file, In: s.in, Out: s.out, Err: s.err,
		}.Run(c.Context())
		if code == 0 {
			return nil
		}
		return &exitError{code, nil}
	}
	return c
}
