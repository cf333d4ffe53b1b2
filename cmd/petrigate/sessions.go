package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func newSessions(s stdio) *cobra.Command {
	return group("sessions", "Inspect and repair session state",
		sessionsList(s), sessionsShow(s), sessionsShadow(s), sessionsReset(s), sessionsSettle(s))
}

// owned is a session with the proxy that holds it.
type owned struct {
	proxy.SessionInfo
	client *control.Client
}

func sessions() ([]owned, error) {
	found, err := running()
	if err != nil {
		return nil, err
	}
	var all []owned
	for _, client := range found {
		list, err := client.Sessions()
		if err != nil {
			return nil, err
		}
		for _, info := range list {
			all = append(all, owned{info, client})
		}
	}
	return all, nil
}

func findSession(id string) (owned, error) {
	if id == "" { // as of a variable that is not set
		return owned{}, usage("the id of the session is empty; petrigate sessions ls lists them")
	}
	all, err := sessions()
	if err != nil {
		return owned{}, err
	}
	var hits []owned
	for _, o := range all {
		if strings.HasPrefix(o.ID, id) {
			hits = append(hits, o)
		}
	}
	if len(hits) == 1 {
		return hits[0], nil
	}
	return owned{}, ambiguous("session", id, len(hits), "petrigate sessions ls")
}

func sessionsList(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List the sessions", Args: cobra.NoArgs}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(*cobra.Command, []string) error {
		all, err := sessions()
		if err != nil {
			return err
		}
		infos := []proxy.SessionInfo{}
		var rows [][]string
		pids := make(map[*control.Client]int)
		for _, o := range all {
			if pids[o.client], err = pidOf(o.client, pids); err != nil {
				return err
			}
			infos = append(infos, o.SessionInfo)
			rows = append(rows, []string{o.ID, o.Principal, strings.Join(o.Clients, ", "), age(o.Since), strconv.Itoa(o.Waiting), strconv.Itoa(len(o.Calls)), strconv.Itoa(pids[o.client])})
		}
		if *asJSON {
			return printAnswer(s.out, "sessions", infos)
		}
		return tableOf(s.out, len(pids), "no sessions", "ID|PRINCIPAL|CLIENTS|AGE|WAITING|OPEN CALLS", rows)
	}
	return c
}

func sessionsShow(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show the nets and the open calls of a session", Args: cobra.ExactArgs(1)}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(_ *cobra.Command, args []string) error {
		o, err := findSession(args[0])
		if err != nil {
			return err
		}
		if *asJSON {
			return printAnswer(s.out, "session", o.SessionInfo)
		}
		_, _ = fmt.Fprintf(s.out, "session %s of %s, by %s, since %s\n", o.ID, o.Principal, o.By, o.Since.Format(time.RFC3339))
		for _, n := range o.Nets {
			state := ""
			if !n.Active {
				state = " (inactive)"
			}
			_, _ = fmt.Fprintf(s.out, "  %s%s: %s\n", n.Name, state, n.Status)
			if n.Shadow != nil {
				_, _ = fmt.Fprintf(s.out, "    in shadow: %s\n", shadowState(*n.Shadow))
			}
		}
		if o.Waiting > 0 {
			_, _ = fmt.Fprintf(s.out, "  waiting for a person: %s, see petrigate approvals\n", text.Count(o.Waiting, "call"))
		}
		for _, call := range o.Calls {
			_, _ = fmt.Fprintf(s.out, "  open call #%d: %s, for %s\n", call.Number, call.Tool, age(call.Since))
		}
		return nil
	}
	return c
}

func sessionsReset(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "reset ID", Short: "Reset the nets of a session", Args: cobra.ExactArgs(1)}
	c.RunE = func(_ *cobra.Command, args []string) error {
		o, err := findSession(args[0])
		if err != nil {
			return err
		}
		nets, err := o.client.Nets()
		if err != nil {
			return err
		}
		if err := o.client.ResetSession(o.ID, control.Reset{Actor: actor()}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "session %s is as it began%s\n", o.ID, keptBy(nets))
		return err
	}
	return c
}

// keptBy says which nets a reset of one session leaves alone.
func keptBy(nets []proxy.PolicyNet) string {
	var shared []string
	for _, n := range nets {
		if n.Scope != "session" {
			shared = append(shared, n.Name)
		}
	}
	if len(shared) == 0 {
		return ""
	}
	return ", except for what it shares with other sessions: " + strings.Join(text.EscapeAll(shared), ", ")
}

func sessionsSettle(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "settle ID CALL", Short: "Settle a call of unknown outcome as success or failure", Args: cobra.ExactArgs(2),
	}
	success := c.Flags().Bool("success", false, "it took effect")
	failed := c.Flags().Bool("failure", false, "it did not")
	c.RunE = func(_ *cobra.Command, args []string) error {
		number, err := strconv.ParseUint(strings.TrimPrefix(args[1], "#"), 10, 64)
		if err != nil || *success == *failed {
			return usage("settle requires SESSION, CALL and either --success or --failure")
		}
		o, err := findSession(args[0])
		if err != nil {
			return err
		}
		if err := o.client.SettleCall(o.ID, control.Settle{Call: number, Success: *success, Actor: actor()}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "call #%d of session %s is settled\n", number, o.ID)
		return err
	}
	return c
}
