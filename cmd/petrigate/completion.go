package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/proxy"
)

// A completer gives words that may stand where a shell completes, each with a
// description behind a tab.
type completer = func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective)

// completeVerbs says for c and the verbs below it what a shell completes: the
// words of a choice, files of the right kind, and what running proxies have.
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
	case f.Name == "session":
		_ = c.RegisterFlagCompletionFunc(f.Name, sessionIDs)
	default:
		_ = c.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions)
	}
}

// completers are those of the verbs that take arguments.
func completers() map[string]completer {
	return map[string]completer{
		"petrigate check":             filesOf("rules"),
		"petrigate fmt":               filesOf("rules"),
		"petrigate graph":             filesOf("rules"),
		"petrigate simulate":          filesOf("rules"),
		"petrigate analyze":           filesOf("yaml", "yml", "json", "pnml"),
		"petrigate test":              filesOf("yaml", "jsonl"),
		"petrigate diff":              filesOf("rules", "yaml", "yml", "json"),
		"petrigate wrap":              nil, // the command of a server, as the shell completes one
		"petrigate explain":           toolNames,
		"petrigate login":             serverNames,
		"petrigate logout":            serverNames,
		"petrigate approvals show":    approvalIDs(false),
		"petrigate approvals approve": approvalIDs(true),
		"petrigate approvals deny":    approvalIDs(true),
		"petrigate sessions show":     sessionIDs,
		"petrigate sessions shadow":   sessionIDs,
		"petrigate sessions reset":    sessionIDs,
		"petrigate sessions settle":   sessionIDs,
		"petrigate nets activate":     switchable(false),
		"petrigate nets deactivate":   switchable(true),
		"petrigate help":              helpNames,
		"petrigate demo-upstream":     nil,
	}
}

// filesOf completes files with one of these endings, and folders.
func filesOf(endings ...string) completer {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// none is what is answered where there is nothing to choose from.
func none(words []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	slices.Sort(words)
	return slices.Compact(words), cobra.ShellCompDirectiveNoFileComp
}

func approvalIDs(pending bool) completer {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var ids []cobra.Completion
		all, _ := approvals()
		for _, a := range all {
			if len(args) == 0 && (!pending || a.State == proxy.Pending) {
				ids = append(ids, cobra.CompletionWithDesc(a.ID, a.Tool+" on "+a.Upstream))
			}
		}
		return none(ids)
	}
}

func sessionIDs(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var ids []cobra.Completion
	all, _ := sessions()
	for _, o := range all {
		if len(args) == 0 {
			ids = append(ids, cobra.CompletionWithDesc(o.ID, "of "+o.Principal+", since "+age(o.Since)))
		}
	}
	return none(ids)
}

func switchable(active bool) completer {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []cobra.Completion
		found, _ := running()
		for _, client := range found {
			nets, _ := client.Nets()
			for _, n := range nets {
				if len(args) == 0 && n.Active == active {
					names = append(names, cobra.CompletionWithDesc(n.Name, n.Rule))
				}
			}
		}
		return none(names)
	}
}

// configured is the configuration that a verb typed so far would read.
func configured(c *cobra.Command) (*config.Config, error) {
	path, _ := c.Flags().GetString("config")
	return config.Load(config.Options{Path: path, WorkDir: true})
}

func serverNames(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	path, _ := c.Flags().GetString("config")
	if _, servers, err := config.Servers(config.Options{Path: path, WorkDir: true}); err == nil && len(args) == 0 {
		for _, s := range servers {
			if s.URL != "" && !s.Disabled {
				names = append(names, cobra.CompletionWithDesc(s.Name, s.URL))
			}
		}
	}
	return none(names)
}

// toolNames are those that the policy speaks of.
func toolNames(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	files, _ := c.Flags().GetStringArray("rules")
	netFiles, _ := c.Flags().GetStringArray("net")
	var source policy.Source
	if len(files)+len(netFiles) == 0 {
		cfg, err := configured(c)
		if err != nil {
			return none(nil)
		}
		source = policy.FromConfig(cfg)
	} else if texts, nets, err := policyFiles(files, netFiles); err == nil {
		source = policy.Source{Rules: texts, Nets: nets}
	}
	result, err := policy.Build(source)
	if err != nil || len(args) > 0 {
		return none(nil)
	}
	return none(check.NamesIn(result))
}

// helpNames are the verbs, and the topics, that follow those that are there.
func helpNames(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	at, rest, err := c.Root().Find(args)
	if err == nil && len(rest) == 0 {
		for _, sub := range at.Commands() {
			if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
				names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
			}
		}
	}
	return none(names)
}
