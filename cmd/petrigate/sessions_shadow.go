package main

import (
	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/shadow"
)

func sessionsShadow(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "shadow [SESSION]", Short: "Show what nets in shadow mode would have refused", Args: cobra.MaximumNArgs(1),
		Long: "shadow reports on the nets in shadow mode, which let every call pass: how often they would have refused a call\n" +
			"or required approval, and where their actual marking differs from the marking under enforcement. Without a\n" +
			"session it covers all sessions since the proxy started, including ended ones.",
	}
	return answering(c, s, "shadows", func(args []string) (any, func() error, error) {
		reports, err := shadows(args)
		return reports, func() error {
			for _, r := range reports {
				if err := shadow.Print(s.out, r); err != nil {
					return err
				}
			}
			return nil
		}, err
	})
}

// shadows returns the reports on shadow mode of all running proxies or, if args contains a session,
// the report on this session.
func shadows(args []string) ([]operator.ShadowInfo, error) {
	if len(args) == 0 {
		return askAll(func(client *control.Client) (operator.ShadowInfo, error) { return client.Shadow("") })
	}
	o, err := findSession(args[0])
	if err != nil {
		return nil, err
	}
	r, err := o.client.Shadow(o.it.ID)
	return []operator.ShadowInfo{r}, err
}
