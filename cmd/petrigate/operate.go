package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
)

var errNoProxy = errors.New("no running proxy was found; start one with petrigate serve, or start an MCP client that runs it")

// running returns a client for each of the user's proxies that responds. If no proxy responds, it
// returns errNoProxy.
func running() ([]*control.Client, error) {
	found, err := control.Find(daemon.RuntimeDir())
	if err == nil && len(found) == 0 {
		err = errNoProxy
	}
	return found, err
}

// proxyFlag adds the --proxy flag, which selects one of several proxies by process ID.
func proxyFlag(c *cobra.Command) *int {
	return c.Flags().Int("proxy", 0, "only the proxy with this process `id` (see status)")
}

// selectProxy returns the client for the proxy with the given process ID. If pid is 0, it returns
// the only client in the list. If it cannot select exactly one client, it returns an error. The
// error message uses trait, such as "a console", to describe the proxies.
func selectProxy(clients []*control.Client, pid int, trait string) (*control.Client, error) {
	var choices []string
	for _, client := range clients {
		status, err := client.Status()
		if err != nil {
			return nil, err
		}
		if status.Pid == pid || pid == 0 && len(clients) == 1 {
			return client, nil
		}
		choices = append(choices, fmt.Sprintf("--proxy %d (%s)", status.Pid, cmp.Or(status.Config, "no configuration file")))
	}
	if pid != 0 {
		return nil, usage("no running proxy with the process id %d has %s; choose one of: %s", pid, trait, strings.Join(choices, ", "))
	}
	return nil, usage("%d running proxies have %s; choose one of: %s", len(clients), trait, strings.Join(choices, ", "))
}

// askAll queries each running proxy and returns all answers. It stops at the first error and then
// returns no answers. If no proxy is running, the error is errNoProxy.
func askAll[T any](question func(*control.Client) (T, error)) ([]T, error) {
	found, err := running()
	if err != nil {
		return nil, err
	}
	var answers []T
	for _, client := range found {
		answer, err := question(client)
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// An ownedItem is an item of a list, such as a session, together with a client for the proxy that
// returned it.
type ownedItem[T any] struct {
	it     T
	client *control.Client
}

func clientsOf[T any](all []ownedItem[T]) []*control.Client {
	return list.Map(all, func(o ownedItem[T]) *control.Client { return o.client })
}

// gather sends a query for a list to each running proxy and returns the items of all the lists.
func gather[T any](query func(*control.Client) ([]T, error)) ([]ownedItem[T], error) {
	lists, err := askAll(func(client *control.Client) ([]ownedItem[T], error) {
		things, err := query(client)
		return list.Map(things, func(it T) ownedItem[T] { return ownedItem[T]{it, client} }), err
	})
	return slices.Concat(lists...), err
}

// pick returns the item whose ID equals id or, failing that, the only item whose ID starts with id.
func pick[T any](what, lister, id string, list func(*control.Client) ([]T, error), idOf func(T) string) (ownedItem[T], error) {
	if id == "" { // an unset shell variable can make the argument empty
		return ownedItem[T]{}, usage("the id of the %s is empty; %s lists them", what, lister)
	}
	all, err := gather(list)
	if err != nil {
		return ownedItem[T]{}, err
	}
	all = uniqueBy(all, func(o ownedItem[T]) string { return idOf(o.it) })
	hits := match(all, id, func(o ownedItem[T]) (string, string) { return idOf(o.it), "" })
	return single(hits, what, fmt.Sprintf("an id that begins with %q; %s lists them", id, lister))
}

// uniqueBy removes items with the same ID as an earlier item. It modifies the slice. Duplicates
// occur because several proxies can return the same item, for example if they share a database.
func uniqueBy[T any](all []T, id func(T) string) []T {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(one T) bool {
		twice := seen[id(one)]
		seen[id(one)] = true
		return twice
	})
}

// match returns the item with the given ID. Without such an item, it returns all items that have id
// as their name or as a prefix of their ID (ignoring case). IDs take precedence, because clients
// can give a session any name, even the ID of another session.
func match[T any](all []T, id string, of func(T) (id, name string)) (hits []T) {
	for _, one := range all {
		its, name := of(one)
		if its == id {
			return []T{one}
		}
		if name == id || strings.HasPrefix(strings.ToLower(its), strings.ToLower(id)) { // people often type IDs in lower case
			hits = append(hits, one)
		}
	}
	return hits
}

// single returns the only element of hits. If hits is empty or has several elements, it returns an
// error. The error is a sentence such as "no session has the name x", where kind is "session" and
// trait is "the name x".
func single[T any](hits []T, kind, trait string) (one T, err error) {
	switch len(hits) {
	case 0:
		return one, fmt.Errorf("no %s has %s", kind, trait)
	case 1:
		return hits[0], nil
	}
	return one, fmt.Errorf("%s have %s", text.Count(len(hits), kind), trait)
}

// A listing is a list returned by a proxy, together with the proxy's process ID.
type listing[T any] struct {
	pid    int
	driver string // how the proxy stores its state, such as "postgres"
	all    []T
}

// listings calls the given function for each running proxy. It returns the resulting lists, each
// with its proxy's process ID.
func listings[T any](list func(*control.Client) ([]T, error)) ([]listing[T], error) {
	return askAll(func(client *control.Client) (of listing[T], err error) {
		status, err := client.Status()
		if err == nil {
			of.pid, of.driver = status.Pid, status.State.Driver
			of.all, err = list(client)
		}
		return of, err
	})
}

// joined returns the items of all lists in a single slice.
func joined[T any](lists []listing[T]) []T {
	all := []T{}
	for _, of := range lists {
		all = append(all, of.all...)
	}
	return all
}

// printListings prints the lists as a table. If there are several proxies, the last column contains
// their process IDs.
func printListings[T any](w io.Writer, lists []listing[T], none, head string, row func(T) []string) error {
	var rows [][]string
	for _, of := range lists {
		for _, it := range of.all {
			rows = append(rows, row(it))
			if len(lists) > 1 {
				rows[len(rows)-1] = append(rows[len(rows)-1], strconv.Itoa(of.pid))
			}
		}
	}
	if len(lists) > 1 {
		head += "|PROXY"
	}
	return text.Table(w, none, head, rows)
}

// group returns a command that consists of subcommands. If no subcommand is given, it runs the
// subcommand ls.
func group(use, short string, ls *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: ls.RunE}
	c.Flags().AddFlagSet(ls.Flags())
	c.AddCommand(ls)
	c.AddCommand(subs...)
	return c
}

// filterByConfig returns the proxies that run with the given configuration file.
func filterByConfig(all []operator.Status, file string) ([]operator.Status, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s operator.Status) bool { return s.Config != path })
	if len(all) == 0 {
		return nil, fmt.Errorf("no running proxy has the configuration %s; petrigate status without --config shows all", path)
	}
	return all, nil
}

func newStatus(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "status", Short: "Show the running proxies", Args: cobra.NoArgs,
		Long: "status shows your running proxies; with --config, those of that configuration.",
	}
	return answering(c, s, "proxies", func([]string) (any, func() error, error) {
		all, err := askAll((*control.Client).Status)
		if file := c.Flag("config"); err == nil && file.Changed {
			all, err = filterByConfig(all, file.Value.String())
		}
		return all, func() error {
			for _, status := range all {
				daemon.PrintStatus(s.out, status)
			}
			return nil
		}, err
	})
}

// actor returns the name to record in the audit log for the user who runs the command.
func actor() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME", "USERNAME"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" { // hooks and services often run without the variables checked above
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
