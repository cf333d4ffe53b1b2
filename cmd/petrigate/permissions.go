package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/permission"
	"github.com/petrigate/petrigate/internal/text"
)

// permissionLists returns the permission lists that the agent reads from the user's files and from
// the working directory.
func permissionLists(system clientcfg.System, name string) (clientcfg.Client, []permission.Line, error) {
	client, _, ok := clientcfg.Find(name)
	if !ok {
		return client, nil, usage("unknown client %q; petrigate can read the permissions of %s", name, strings.Join(permission.Agents(), ", "))
	}
	dir, err := os.Getwd()
	if err != nil {
		return client, nil, err
	}
	return client, permission.Lists(client.Name, system, dir), nil
}

// permissions prints an agent's permission lists as rules.
func (s stdio) permissions(system clientcfg.System, name string) error {
	client, lines, err := permissionLists(system, name)
	switch {
	case err != nil:
		return err
	case len(lines) == 0:
		return fmt.Errorf("no permission lists were found for %s; petrigate can read those of %s", client.Title, strings.Join(permission.Agents(), ", "))
	}
	rules, left := permission.Rules(client.Name, client.Title, lines)
	fmt.Fprint(s.out, rules)
	fmt.Fprintf(s.err, "%s of %s: %d imported, %d not\n", text.Count(len(lines), "line"), client.Title, len(lines)-len(left), len(left))
	for _, l := range left {
		fmt.Fprintf(s.err, "not imported: %s\n", l)
	}
	return nil
}

// notePermissionLists tells the user about an agent's permission lists, which are not converted
// when servers are imported.
func (s stdio) notePermissionLists(system clientcfg.System, name string) {
	if client, lines, err := permissionLists(system, name); err == nil && len(lines) > 0 {
		fmt.Fprintf(s.err, "note: %s has %s of permissions. They do not apply to tools that it reaches through petrigate; run petrigate import %s --permissions to print them as rules\n",
			client.Title, text.Count(len(lines), "line"), name)
	}
}
