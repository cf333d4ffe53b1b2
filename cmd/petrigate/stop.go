package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func newStop(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "stop", Short: "Refuse all calls until petrigate start (kill switch)", Args: cobra.NoArgs}
	c.Long = "stop has the running proxies refuse every call, or those of one session, until petrigate start. Calls\n" +
		"that are under way end. Lists are still answered. Where the states are in a database, it holds for all\n" +
		"proxies that use it, also for those that start later; without one, until the process ends."
	session := c.Flags().String("session", "", "of this `session` alone")
	reason := c.Flags().String("reason", "", "the `text` that callers are told, and that goes on record")
	pid := proxyFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		return throwSwitch(s, true, *session, *pid, func(client *control.Client, session string) (proxy.Stopping, error) {
			return client.Stop(control.Stop{Session: session, Actor: actor(), Reason: *reason})
		})
	}
	return c
}

func newStart(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "start", Short: "Let calls pass again after petrigate stop", Args: cobra.NoArgs}
	c.Long = "start ends a petrigate stop: that of all calls, or with --session that of a session. Nothing is given\n" +
		"back: budgets and nets are as they were."
	session := c.Flags().String("session", "", "end the stop of this `session`")
	pid := proxyFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		return throwSwitch(s, false, *session, *pid, func(client *control.Client, session string) (proxy.Stopping, error) {
			return client.StartAgain(control.Stop{Session: session, Actor: actor()})
		})
	}
	return c
}

// throwSwitch gives an order to all running proxies, to the one that has the session, or to
// the one with the process id, and says what became of it.
func throwSwitch(s stdio, on bool, session string, pid int, order func(*control.Client, string) (proxy.Stopping, error)) error {
	clients, session, err := switched(session, pid)
	if err != nil {
		return err
	}
	for _, client := range clients {
		status, err := client.Status()
		if err != nil {
			return err
		}
		done, err := order(client, session)
		if err != nil {
			return fmt.Errorf("proxy %d: %w", status.Pid, err)
		}
		printSwitch(s.out, on, session, status.Pid, done)
	}
	return nil
}

// switched returns the proxies that an order is for, and the id of the session.
func switched(session string, pid int) ([]*control.Client, string, error) {
	if session != "" {
		of, err := findSession(session)
		return []*control.Client{of.client}, of.it.ID, err
	}
	clients, err := running()
	if err != nil || pid == 0 {
		return clients, "", err
	}
	one, err := theProxy(clients, pid, "anything to stop")
	return []*control.Client{one}, "", err
}

func printSwitch(w io.Writer, on bool, session string, pid int, done proxy.Stopping) {
	what, where := "all calls", fmt.Sprintf("of proxy %d, until it ends", pid)
	if session != "" {
		what = "the calls of session " + session
	}
	if done.Shared {
		where = "of all proxies with this database"
	}
	switch {
	case on && done.Already:
		_, _ = fmt.Fprintf(w, "%s were stopped already (proxy %d)\n", what, pid)
	case on:
		_, _ = fmt.Fprintf(w, "%s %s are refused; petrigate start lets them pass again\n", what, where)
	case done.Already:
		_, _ = fmt.Fprintf(w, "%s were not stopped (proxy %d)\n", what, pid)
	default:
		_, _ = fmt.Fprintf(w, "%s pass again as the policy allows (proxy %d)\n", what, pid)
	}
	for _, left := range done.Left {
		if !on {
			_, _ = fmt.Fprintf(w, "  still stopped: %s\n", stopped(left))
		}
	}
}

// stopped says what is stopped, by whom, and why.
func stopped(s proxy.StopInfo) string {
	what, again := "all calls are refused", "petrigate start"
	if s.Session != "" {
		what, again = "the calls of session "+s.Session+" are refused", "petrigate start --session "+s.Session
	}
	return fmt.Sprintf("%s since %s, by %s: %s (%s)", what, s.Since.Format(time.RFC3339), s.Actor, cmp.Or(text.Escape(s.Reason), "no reason given"), again)
}
