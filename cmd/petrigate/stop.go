package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/proxy"
)

func newStop(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "stop", Short: "Refuse all calls until petrigate start (kill switch)", Args: cobra.NoArgs}
	c.Long = "stop makes the running proxies refuse every call, or all calls of one session, until petrigate start. Calls in\n" +
		"flight finish, and lists are still answered. If state is in a database, the stop applies to all proxies that\n" +
		"use it, including those that start later; otherwise it lasts until the process exits. If the stop cannot be\n" +
		"written to the database, it applies only to the proxies reached: stop reports this and exits with code 1, and\n" +
		"these proxies write it to the database as soon as they can. --config writes to the database directly, which\n" +
		"works even if no proxy runs or responds. stop never requires the PIN."
	session := c.Flags().String("session", "", "only the calls of this `session`")
	reason := c.Flags().String("reason", "", "a `text` for callers and for the record")
	pid, file := proxyFlag(c), databaseFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		if *file != "" {
			return switchInDatabase(s, true, *session, *pid, *file, func(p *proxy.Proxy, session string) (operator.Stopping, error) {
				return p.Stop(session, actor(), *reason)
			})
		}
		return switchProxies(s, true, *session, *pid, nil, func(client *control.Client, session string) (operator.Stopping, error) {
			return client.Stop(control.Stop{Session: session, Actor: actor(), Reason: *reason})
		})
	}
	return c
}

func newStart(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "start", Short: "Let calls pass again after petrigate stop", Args: cobra.NoArgs}
	c.Long = "start ends a stop of all calls or, with --session, of one session. It restores nothing: budgets and nets\n" +
		"keep their state."
	session := c.Flags().String("session", "", "end the stop of this `session`")
	pid, file, pinIn := proxyFlag(c), databaseFlag(c), pinFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *file != "" {
			return switchInDatabase(s, false, *session, *pid, *file, func(p *proxy.Proxy, session string) (done operator.Stopping, err error) {
				typed := ""
				if p.Status().PIN {
					typed, err = readPIN(c.Context(), s, "PIN: ", *pinIn)
				}
				if err != nil {
					return done, err
				}
				return p.StartAgain(session, operator.Actor{Name: actor(), PIN: typed})
			})
		}
		var typed map[string]string
		ask := func(clients []*control.Client) (err error) {
			typed, err = promptPINs(c.Context(), s, *pinIn, clients)
			return err
		}
		return switchProxies(s, false, *session, *pid, ask, func(client *control.Client, session string) (operator.Stopping, error) {
			return client.StartAgain(control.Stop{Session: session, Actor: actor(), PIN: typed[client.Path]})
		})
	}
	return c
}

// databaseFlag adds the --config flag, which makes the command write to the database of the given
// configuration instead of contacting a proxy.
func databaseFlag(c *cobra.Command) *string {
	return c.Flags().String("config", "", "write to the database of this configuration `file`, whether or not a proxy is running")
}

// switchInDatabase stops calls or allows them again by writing to the configuration's database, and
// prints the result.
func switchInDatabase(s stdio, on bool, session string, pid int, file string, order func(p *proxy.Proxy, session string) (operator.Stopping, error)) error {
	if pid != 0 {
		return usage("--config applies to all proxies that use the database, --proxy to one; they cannot be combined")
	}
	c, err := config.Load(config.Options{Path: file, Fetch: daemon.StoredBases, Partial: true}) // only the location of the database is needed
	if err != nil {
		return err
	}
	return daemon.WithDatabase(c, func(p *proxy.Proxy) error {
		session := resolveSession(p, session)
		done, err := order(p, session)
		if err == nil && done.Alone != "" {
			err = errors.New("the request could not be written to the database, and no proxy received it")
		}
		if err == nil {
			printSwitch(s.out, on, session, 0, done)
		}
		return err
	})
}

// resolveSession returns the ID of the session with the given ID, prefix of an ID, or name. If it
// does not find exactly one such session, it returns its argument unchanged, so that calls can be
// stopped even if sessions cannot be listed.
func resolveSession(p *proxy.Proxy, session string) string {
	if session == "" {
		return ""
	}
	all, _ := p.ListSessions()
	if hits := match(all, session, func(o operator.SessionInfo) (string, string) { return o.ID, o.Name }); len(hits) == 1 {
		return hits[0].ID
	}
	return session
}

// switchProxies makes proxies stop calls or allow them again, and prints the results. It acts on
// the proxy with the given session or process ID; the session takes precedence. If session is empty
// and pid is 0, it acts on all running proxies. If ask is not nil, it is called first, to prompt
// for the PINs of the proxies.
func switchProxies(s stdio, on bool, session string, pid int, ask func([]*control.Client) error, order func(*control.Client, string) (operator.Stopping, error)) error {
	clients, session, err := switchTargets(session, pid)
	if errors.Is(err, errNoProxy) {
		return fmt.Errorf("%w. If state is in a database, --config FILE works without a proxy", err)
	}
	if err == nil && ask != nil {
		err = ask(clients)
	}
	if err != nil {
		return err
	}
	var failed []error
	for _, client := range clients { // if one proxy does not respond, the order must still reach the others
		status, err := client.Status()
		if err != nil {
			failed = append(failed, err)
			continue
		}
		done, err := order(client, session)
		if err != nil {
			failed = append(failed, fmt.Errorf("proxy %d: %w", status.Pid, err))
			continue
		}
		if done.Alone != "" {
			effect := map[bool]string{true: "are refused by", false: "pass again at"}[on]
			failed = append(failed, fmt.Errorf("%s %s proxy %d only: %s", callsOf(session), effect, status.Pid, done.Alone))
			continue
		}
		printSwitch(s.out, on, session, status.Pid, done)
	}
	return errors.Join(failed...)
}

// switchTargets returns clients for the proxies that switchProxies acts on, and the session's full
// ID.
func switchTargets(session string, pid int) ([]*control.Client, string, error) {
	if session != "" {
		of, err := findSession(session)
		return []*control.Client{of.client}, of.it.ID, err
	}
	clients, err := running()
	if err != nil || pid == 0 {
		return clients, "", err
	}
	one, err := selectProxy(clients, pid, "anything to stop")
	return []*control.Client{one}, "", err
}

func callsOf(session string) string {
	if session != "" {
		return "the calls of session " + session
	}
	return "all calls"
}

// printSwitch prints the result of stopping calls or allowing them again, either on the proxy with
// the process ID pid or, if pid is 0, in a database.
func printSwitch(w io.Writer, on bool, session string, pid int, done operator.Stopping) {
	what, which := callsOf(session), fmt.Sprintf("proxy %d", pid)
	where, until := "of "+which, " until it exits"
	if pid == 0 {
		which = "the database"
	}
	if done.Shared {
		where, until = "of all proxies that use this database", ""
	}
	switch {
	case on && done.Already:
		_, _ = fmt.Fprintf(w, "%s were already stopped (%s)\n", what, which)
	case on:
		_, _ = fmt.Fprintf(w, "%s %s are refused%s; petrigate start lets them pass again\n", what, where, until)
	case done.Already:
		_, _ = fmt.Fprintf(w, "%s were allowed already (%s)\n", what, which)
	default:
		_, _ = fmt.Fprintf(w, "%s pass again as the policy allows (%s)\n", what, which)
	}
	for _, left := range done.Left {
		if !on {
			_, _ = fmt.Fprintf(w, "  still stopped: %s\n", daemon.Stopped(left))
		}
	}
}
