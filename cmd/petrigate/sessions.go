package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/shadow"
	"github.com/petrigate/petrigate/internal/serve/terminal"
	"github.com/petrigate/petrigate/internal/text"
)

func newSessions(s stdio) *cobra.Command {
	c := group("sessions", "Inspect and repair session state",
		sessionsList(s), sessionsShow(s), sessionsShadow(s), sessionsReset(s), sessionsSettle(s))
	c.Long = "sessions lists the sessions of the running proxies. If state is in a database, it also lists the sessions of\n" +
		"other processes. SESSION is the id of a session, a prefix of its id, or its name."
	return c
}

// findSession finds a session by its ID, by a prefix of its ID, or by name.
func findSession(id string) (ownedItem[operator.SessionInfo], error) {
	const lister = "petrigate sessions ls"
	if id == "" { // an unset shell variable can make the argument empty
		return ownedItem[operator.SessionInfo]{}, usage("the id of the session is empty; %s lists them", lister)
	}
	all, err := gather((*control.Client).ListSessions)
	if err != nil {
		return ownedItem[operator.SessionInfo]{}, err
	}
	slices.SortStableFunc(all, func(a, b ownedItem[operator.SessionInfo]) int { return compareByClients(a.it, b.it) })
	all = uniqueBy(all, func(o ownedItem[operator.SessionInfo]) string { return o.it.ID })
	hits := match(all, id, func(o ownedItem[operator.SessionInfo]) (string, string) { return o.it.ID, o.it.Name })
	return single(hits, "session", fmt.Sprintf("the name %q, or an id that begins with it; %s lists them", id, lister))
}

// compareByClients orders descriptions of the same session from several proxies that share a
// database. Descriptions with connected clients come first.
func compareByClients(a, b operator.SessionInfo) int {
	return cmp.Compare(min(len(b.Clients), 1), min(len(a.Clients), 1))
}

func sessionsList(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List the sessions", Args: cobra.NoArgs}
	return answering(c, s, "sessions", func([]string) (any, func() error, error) {
		list := (*control.Client).ListSessions
		if asked, _ := c.Flags().GetBool("json"); asked { // only the full listing includes the nets
			list = (*control.Client).Sessions
		}
		lists, err := listings(list)
		lists = uniqueSessions(lists)
		return joined(lists), func() error { return printSessions(s.out, lists) }, err
	})
}

// uniqueSessions removes duplicate sessions, so that each session remains in only one of the lists.
// Proxies that share a database list the same sessions.
func uniqueSessions(lists []listing[operator.SessionInfo]) []listing[operator.SessionInfo] {
	best := map[string]*operator.SessionInfo{}
	for _, of := range lists {
		for i := range of.all {
			if o := &of.all[i]; best[o.ID] == nil || compareByClients(*o, *best[o.ID]) < 0 {
				best[o.ID] = o
			}
		}
	}
	for k := range lists {
		var kept []operator.SessionInfo
		for i := range lists[k].all {
			if o := &lists[k].all[i]; best[o.ID] == o {
				kept = append(kept, *o)
			}
		}
		lists[k].all = kept
	}
	return slices.DeleteFunc(lists, func(of listing[operator.SessionInfo]) bool { return len(of.all) == 0 })
}

func printSessions(w io.Writer, lists []listing[operator.SessionInfo]) error {
	kept := slices.ContainsFunc(lists, func(of listing[operator.SessionInfo]) bool { return of.driver != "memory" })
	named := slices.ContainsFunc(lists, func(of listing[operator.SessionInfo]) bool {
		return slices.ContainsFunc(of.all, func(o operator.SessionInfo) bool { return o.Name != "" })
	})
	head := "ID|PRINCIPAL|"
	if named {
		head += "NAME|"
	}
	head += "CLIENTS|AGE|"
	if kept {
		head += "IDLE|HELD BY|"
	}
	return printListings(w, lists, "no sessions", head+"WAITING|OPEN CALLS", func(o operator.SessionInfo) []string {
		row := []string{o.ID, o.Principal}
		if named {
			row = append(row, o.Name)
		}
		row = append(row, strings.Join(o.Clients, ", "), terminal.Age(o.Since))
		if kept {
			row = append(row, idleFor(o), holder(o))
		}
		return append(row, strconv.Itoa(o.Waiting), openCalls(o))
	})
}

func idleFor(o operator.SessionInfo) string {
	if o.Used.IsZero() {
		return ""
	}
	return terminal.Age(o.Used)
}

// holder describes the process that is using a session in a database.
func holder(o operator.SessionInfo) string {
	switch {
	case o.Gone:
		return "process " + o.Process + ", which has ended"
	case o.Process != "":
		return "process " + o.Process
	case len(o.Clients) > 0:
		return "this proxy"
	default:
		return "no process"
	}
}

func openCalls(o operator.SessionInfo) string {
	all, unknown := uint64(0), uint64(0)
	for _, call := range o.Calls {
		all += 1 + call.More
		if call.Unknown {
			unknown += 1 + call.More
		}
	}
	n := strconv.FormatUint(all, 10)
	switch {
	case o.Gone && all > 0, unknown > 0 && unknown == all:
		n += " unknown"
	case unknown > 0:
		n += ", " + strconv.FormatUint(unknown, 10) + " unknown"
	}
	return n
}

func sessionsShow(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "show SESSION", Short: "Show the nets and the open calls of a session", Args: cobra.ExactArgs(1)}
	return answering(c, s, "session", func(args []string) (any, func() error, error) {
		o, err := findSession(args[0])
		if err == nil {
			o.it, err = o.client.Session(o.it.ID)
		}
		return o.it, func() error {
			printSession(s.out, o.it)
			return nil
		}, err
	})
}

func printSession(w io.Writer, o operator.SessionInfo) {
	_, _ = fmt.Fprintf(w, "session %s of %s, by %s, since %s\n", o.ID, o.Principal, identifiedBy(o), o.Since.Format(time.RFC3339))
	if !o.Used.IsZero() {
		_, _ = fmt.Fprintf(w, "  held by %s, idle for %s\n", holder(o), terminal.Age(o.Used))
	}
	for _, n := range o.Nets {
		state := ""
		if !n.Active {
			state = " (inactive)"
		}
		_, _ = fmt.Fprintf(w, "  %s%s: %s\n", n.Name, state, n.Status)
		if n.Shadow != nil {
			_, _ = fmt.Fprintf(w, "    in shadow: %s\n", shadow.State(*n.Shadow))
		}
	}
	if o.Waiting > 0 {
		_, _ = fmt.Fprintf(w, "  waiting for approval: %s; see petrigate approvals\n", text.Count(o.Waiting, "call"))
	}
	for _, call := range o.Calls {
		does := ""
		if command := text.Command(call.Arguments); command != "" {
			does = " " + text.Excerpt(command, 120)
		}
		_, _ = fmt.Fprintf(w, "  open call #%d: %s%s, for %s%s\n", call.Number, call.Tool, does, terminal.Age(call.Since), outcomeNote(o.ID, call))
	}
}

// outcomeNote returns a note about a call whose outcome is unknown or not recorded yet, or "" for
// any other call. If the outcome is unknown, the note contains the command for setting it.
func outcomeNote(session string, call operator.CallInfo) string {
	switch {
	case call.Outcome != "":
		return "; its outcome, " + call.Outcome + ", could not be recorded yet; the proxy keeps trying"
	case call.Unknown:
		its := "its outcome is"
		if call.More > 0 {
			its = fmt.Sprintf("its outcome and that of %d more are", call.More)
		}
		return fmt.Sprintf("; %s unknown (petrigate sessions settle %s %d --success, or --failure)", its, session, call.Number)
	}
	return ""
}

// identifiedBy describes how the client identified the session, and includes the session's name if
// it has one.
func identifiedBy(o operator.SessionInfo) string {
	if o.Name == "" {
		return o.By
	}
	return fmt.Sprintf("%s %q", o.By, o.Name)
}

func sessionsReset(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "reset SESSION", Short: "Reset the nets of a session", Args: cobra.ExactArgs(1)}
	pinIn := pinFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		o, err := findSession(args[0])
		if err != nil {
			return err
		}
		nets, err := o.client.Nets()
		if err != nil {
			return err
		}
		typed, err := promptPIN(c.Context(), s, *pinIn, o.client)
		if err != nil {
			return err
		}
		if err := o.client.ResetSession(o.it.ID, control.Reset{Actor: actor(), PIN: typed}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "session %s is reset%s\n", o.it.ID, sharedNetsNote(nets))
		return err
	}
	return c
}

// sharedNetsNote lists the nets that are not reset when a single session is reset.
func sharedNetsNote(nets []operator.PolicyNet) string {
	shared := list.Filter(nets, func(n operator.PolicyNet) bool { return n.Scope != "session" })
	if len(shared) == 0 {
		return ""
	}
	names := list.Map(shared, func(n operator.PolicyNet) string { return text.Escape(n.Name) })
	return ", except for nets that it shares with other sessions: " + strings.Join(names, ", ")
}

func sessionsSettle(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "settle SESSION CALL", Short: "Settle a call with an unknown outcome as success or failure", Args: cobra.ExactArgs(2),
	}
	success := c.Flags().Bool("success", false, "the call took effect")
	failed := c.Flags().Bool("failure", false, "the call did not take effect")
	pinIn := pinFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		number, err := strconv.ParseUint(strings.TrimPrefix(args[1], "#"), 10, 64)
		if err != nil || *success == *failed {
			return usage("settle requires SESSION, CALL and either --success or --failure")
		}
		o, err := findSession(args[0])
		if err != nil {
			return err
		}
		typed, err := promptPIN(c.Context(), s, *pinIn, o.client)
		if err != nil {
			return err
		}
		if err := o.client.SettleCall(o.it.ID, control.Settle{Call: number, Success: *success, Actor: actor(), PIN: typed}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "call #%d of session %s is settled\n", number, o.it.ID)
		return err
	}
	return c
}
