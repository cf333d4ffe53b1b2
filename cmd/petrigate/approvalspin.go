package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/pin"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/terminal"
	"github.com/petrigate/petrigate/internal/text"
)

func approvalsPIN(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "pin", Short: "Make the hash of a PIN that approvals need from then on", Args: cobra.NoArgs,
		Long: "pin asks for a PIN, twice, and prints the line of the configuration by which a proxy knows it: its hash, below\n" +
			"approval. An approval in the console or at the command line needs the PIN then, and so does whatever else\n" +
			"could let a call pass: sessions reset and settle, tools accept, nets activate, start. Elsewhere than at a\n" +
			"terminal, pin reads it from standard input.",
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		asked := isTerminal(s.in) && isTerminal(s.err)
		typed, err := readPIN(c.Context(), stdio{in: s.in, out: s.err}, "PIN, of at least 6 characters: ", !asked)
		if err != nil {
			return err
		}
		if asked {
			again, err := readPIN(c.Context(), stdio{in: s.in, out: s.err}, "The same again: ", false)
			if err != nil {
				return err
			}
			if again != typed {
				return errors.New("the two are not the same; nothing was made")
			}
		}
		hash, err := pin.Hash(typed)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "pin: %q\n", hash)
		if asked && err == nil {
			_, err = fmt.Fprintln(s.err, "Put this line below approval: in the configuration, and start the proxy again.")
		}
		return err
	}
	return c
}

// pinFlag adds --pin-stdin, for programs that pass the PIN on standard input.
func pinFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("pin-stdin", false, "read the PIN, where one is needed (approval.pin), from standard input: that of one proxy")
}

// promptPIN asks for the PIN of one proxy. It returns "" if the proxy needs none.
func promptPIN(ctx context.Context, s stdio, fromInput bool, client *control.Client) (string, error) {
	typed, err := promptPINs(ctx, s, fromInput, []*control.Client{client})
	return typed[client.Path], err
}

// promptPINs asks for the PIN of each proxy that needs one and returns the PINs by socket path, so
// that no proxy gets the PIN of another. Standard input holds the PIN of one proxy only, because a
// program cannot know which other proxies run.
func promptPINs(ctx context.Context, s stdio, fromInput bool, clients []*control.Client) (map[string]string, error) {
	typed, prompts := map[string]string{}, map[string]string{}
	var needing, names []string // socket paths, and names to show to people
	for _, client := range clients {
		status, err := client.Status()
		if _, known := prompts[client.Path]; known || err != nil { // an unreachable proxy is reported when it gets the order
			continue
		}
		name := fmt.Sprintf("proxy %d (%s)", status.Pid, text.Escape(cmp.Or(status.Config, "no configuration file")))
		prompts[client.Path] = "PIN of " + name + ": "
		if status.PIN {
			needing, names = append(needing, client.Path), append(names, name)
		}
	}
	if fromInput && len(needing) > 1 {
		return nil, usage("%s each need a PIN of their own, and --pin-stdin reads one; choose one of them with --proxy", text.And(names))
	}
	for _, path := range needing {
		prompt := prompts[path]
		if len(prompts) == 1 {
			prompt = "PIN: "
		}
		var err error
		if typed[path], err = readPIN(ctx, s, prompt, fromInput); err != nil {
			return nil, err
		}
	}
	return typed, nil
}

// readPIN asks for a PIN at the terminal, or reads the first line of standard input.
func readPIN(ctx context.Context, s stdio, prompt string, fromInput bool) (string, error) {
	if !fromInput {
		if !isTerminal(s.in) {
			return "", usage("this needs the PIN of the proxy, and standard input is no terminal; --pin-stdin reads it from there")
		}
		return terminal.Secret(ctx, s.in, s.out, prompt)
	}
	lines := bufio.NewScanner(s.in)
	lines.Scan() // on a read error the PIN is empty, and the proxy refuses it
	return lines.Text(), nil
}
