package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/terminal"
)

// A completer returns the possible completions of an argument. Each consists of a word, a tab and a
// description.
type completer = func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective)

// completeVerbs sets up shell completion for the command c and its subcommands. It completes the
// values of choice flags, the names of files with the right extension, and the approvals, sessions
// and nets of running proxies.
func completeVerbs(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { completeFlag(c, f) })
	if words, ok := completers()[c.CommandPath()]; ok {
		c.ValidArgsFunction = words
	} else if !c.HasSubCommands() && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range c.Commands() {
		completeVerbs(sub)
	}
}

func completeFlag(c *cobra.Command, f *pflag.Flag) {
	endings := map[string][]string{
		"config": {"yaml", "yml", "json"}, "rules": {"rules"}, "net": {"yaml", "yml", "json", "pnml"},
		"tools": {"json"}, "cases": {"jsonl"}, "record": {"yaml"}, "audit": {"jsonl"},
	}
	_, chosen := f.Value.(*choice)
	kind, _ := pflag.UnquoteUsage(f)
	switch {
	case f.Value.Type() == "bool":
	case chosen:
		_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(f.Value.(*choice).among, cobra.ShellCompDirectiveNoFileComp))
	case kind == "file":
		_ = c.MarkFlagFilename(f.Name, endings[f.Name]...)
	case f.Name == "reset-net":
		_ = c.RegisterFlagCompletionFunc(f.Name, netNames)
	case f.Name == "session" && c.Name() != "serve":
		_ = c.RegisterFlagCompletionFunc(f.Name, completeFirst(sessionIDs))
	default:
		_ = c.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions)
	}
}

// completers returns the functions that complete the arguments of commands, keyed by the full
// command, such as "petrigate check". A nil function leaves the completion to the shell. If a
// command has no entry, its arguments are not completed, unless the command itself lists their
// possible values.
func completers() map[string]completer {
	return map[string]completer{
		"petrigate check":             completeFiles("rules", "yaml", "yml", "json", "pnml"),
		"petrigate fmt":               completeFiles("rules"),
		"petrigate graph":             completeFiles("rules", "yaml", "yml", "json", "pnml"),
		"petrigate simulate":          completeFiles("rules", "yaml", "yml", "json", "pnml"),
		"petrigate analyze":           completeFiles("yaml", "yml", "json", "pnml"),
		"petrigate suggest":           completeFiles("jsonl", "db"),
		"petrigate test":              completeFiles("yaml", "jsonl"),
		"petrigate diff":              completeFiles("rules", "yaml", "yml", "json"),
		"petrigate wrap":              nil, // the arguments are the command line of an MCP server, so leave the completion to the shell
		"petrigate explain":           completeFirst(toolNames),
		"petrigate login":             completeFirst(serverNames),
		"petrigate logout":            completeFirst(serverNames),
		"petrigate import":            completeFirst(clientNames),
		"petrigate init":              completeFirst(agentWords),
		"petrigate connect":           completeFirst(clientNames),
		"petrigate disconnect":        completeFirst(clientNames),
		"petrigate approvals show":    approvalIDs(false),
		"petrigate approvals approve": approvalIDs(true),
		"petrigate approvals deny":    approvalIDs(true),
		"petrigate approvals revoke":  completeFirst(grantIDs),
		"petrigate sessions show":     completeFirst(sessionIDs),
		"petrigate sessions shadow":   completeFirst(sessionIDs),
		"petrigate sessions reset":    completeFirst(sessionIDs),
		"petrigate sessions settle":   completeFirst(sessionIDs),
		"petrigate nets activate":     switchable(false),
		"petrigate nets deactivate":   switchable(true),
		"petrigate help":              helpNames,
		"petrigate demo-upstream":     nil,
	}
}

// completeFiles completes the names of directories and of files that have any of the given
// extensions.
func completeFiles(endings ...string) completer {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeFirst completes a command's first argument with the words returned by list.
func completeFirst(list func(c *cobra.Command) []cobra.Completion) completer {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []cobra.Completion
		if len(args) == 0 {
			words = list(c)
		}
		slices.Sort(words)
		return slices.Compact(words), cobra.ShellCompDirectiveNoFileComp
	}
}

// netNames completes the names of nets on running proxies.
func netNames(*cobra.Command, []string, string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	all, _ := gather((*control.Client).Nets)
	words = list.Map(all, func(n ownedItem[operator.PolicyNet]) cobra.Completion {
		return cobra.CompletionWithDesc(n.it.Name, n.it.Rule)
	})
	return words, cobra.ShellCompDirectiveNoFileComp
}

func approvalIDs(pending bool) completer {
	return completeFirst(func(*cobra.Command) (ids []cobra.Completion) {
		all, _ := gather((*control.Client).Approvals)
		for _, a := range all {
			if !pending || a.it.State == operator.Pending {
				ids = append(ids, cobra.CompletionWithDesc(a.it.ID, a.it.Tool+" on "+a.it.Upstream))
			}
		}
		return ids
	})
}

func grantIDs(*cobra.Command) []cobra.Completion {
	all, _ := gather((*control.Client).Grants)
	return list.Map(all, func(g ownedItem[operator.GrantInfo]) cobra.Completion {
		return cobra.CompletionWithDesc(g.it.ID, g.it.Tool+" on "+g.it.Upstream)
	})
}

func sessionIDs(*cobra.Command) (ids []cobra.Completion) {
	all, _ := gather((*control.Client).ListSessions)
	for _, o := range all {
		about := "of " + o.it.Principal + ", started " + terminal.Age(o.it.Since) + " ago"
		ids = append(ids, cobra.CompletionWithDesc(o.it.ID, about))
		if o.it.Name != "" {
			ids = append(ids, cobra.CompletionWithDesc(o.it.Name, about))
		}
	}
	return ids
}

func switchable(active bool) completer {
	return completeFirst(func(*cobra.Command) (names []cobra.Completion) {
		nets, _ := gather((*control.Client).Nets)
		for _, n := range nets {
			if n.it.Active == active {
				names = append(names, cobra.CompletionWithDesc(n.it.Name, n.it.Rule))
			}
		}
		return names
	})
}

func serverNames(c *cobra.Command) []cobra.Completion {
	path, _ := c.Flags().GetString("config")
	_, servers, _ := config.Servers(config.Options{Path: path, WorkDir: true}) // without Options.Trust, variables in a configuration found in the working directory are not expanded
	servers = list.Filter(servers, func(s config.Server) bool { return s.URL != "" && !s.Disabled })
	return list.Map(servers, func(s config.Server) cobra.Completion { return cobra.CompletionWithDesc(s.Name, s.URL) })
}

// toolNames completes the names of tools that the policy mentions.
func toolNames(c *cobra.Command) []cobra.Completion {
	var f policyFlags
	f.rules, _ = c.Flags().GetStringArray("rules")
	f.nets, _ = c.Flags().GetStringArray("net")
	if f.configLoader, _ = (stdio{}).configLoader(c); f.book.File == "" {
		return nil
	}
	f.offline = true // completion must not wait for the network
	result, err := f.policy()
	if err != nil {
		return nil
	}
	return check.NamesIn(result)
}

// helpNames completes the commands and help topics that can follow the arguments typed so far.
func helpNames(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	at, rest, err := c.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeFirst(func(*cobra.Command) []cobra.Completion {
		subs := list.Filter(at.Commands(), func(c *cobra.Command) bool { return c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() })
		return list.Map(subs, func(c *cobra.Command) cobra.Completion { return cobra.CompletionWithDesc(c.Name(), c.Short) })
	})(c, rest, begun)
}
