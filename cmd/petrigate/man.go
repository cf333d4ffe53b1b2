package main

import (
	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/manpage"
)

// manColumns is the width of the manual page in columns, excluding the margin.
const manColumns = 72

// newMan returns the hidden command that prints the manual page, for use in building packages.
func newMan(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "man", Short: "Print the manual page", Hidden: true, Args: cobra.NoArgs}
	c.RunE = func(c *cobra.Command, _ []string) error {
		root := c.Root()
		page := manpage.Page{Name: root.Name(), Summary: root.Short, Version: versionString(), Text: root.Long, Flags: root.PersistentFlags().FlagUsagesWrapped(manColumns), Verbs: manVerbs(root)}
		for _, topic := range root.Commands() {
			if topic.IsAdditionalHelpTopicCommand() {
				page.Topics = append(page.Topics, manpage.Topic{Title: topic.Name(), Text: topic.Long})
			}
		}
		return page.Write(s.out)
	}
	return c
}

// manVerbs returns all visible commands, each followed by its subcommands.
func manVerbs(of *cobra.Command) (all []manpage.Verb) {
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() {
			flags := c.LocalFlags().FlagUsagesWrapped(manColumns) // LocalFlags adds the parents' flags to c, so it must be called before UseLine
			all = append(all, manpage.Verb{Usage: c.UseLine(), Short: c.Short, Long: c.Long, Flags: flags, Sample: c.Example})
			all = append(all, manVerbs(c)...)
		}
	}
	return all
}
