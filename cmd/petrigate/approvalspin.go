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
		Use: "pin", Short: "Hash a PIN for approvals", Args: cobra.NoArgs,
		Long: "pin asks for a PIN twice and prints its hash as a line for the approval section of the configuration. With\n" +
			"that line, an approval in the console or on the command line requires the PIN, and so does every other command\n" +
			"that could let a call pass: sessions reset and settle, tools accept, nets activate, start. Without a terminal,\n" +
			"pin reads the PIN from standard input.",
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		asked := terminal.Is(s.in) && terminal.Is(s.err)
		typed, err := readPIN(c.Context(), stdio{in: s.in, out: s.err}, "PIN (at least 6 characters): ", !asked)
		if err != nil {
			return err
		}
		if asked {
			again, err := readPIN(c.Context(), stdio{in: s.in, out: s.err}, "Repeat: ", false)
			if err != nil {
				return err
			}
			if again != typed {
				return errors.New("the PINs do not match")
			}
		}
		hash, err := pin.Hash(typed)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "pin: %q\n", hash)
		if asked && err == nil {
			_, err = fmt.Fprintln(s.err, "Add this line below approval: in the configuration, then restart the proxy.")
		}
		return err
	}
	return c
}

// pinFlag adds the --pin-stdin flag, which programs set to supply the PIN on standard input.
func pinFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("pin-stdin", false, "read the PIN from standard input, if the proxy requires one (approval.pin)")
}

// promptPIN asks for the PIN of a proxy. It returns "" if the proxy does not require a PIN.
func promptPIN(ctx context.Context, s stdio, fromInput bool, client *control.Client) (string, error) {
	typed, err := promptPINs(ctx, s, fromInput, []*control.Client{client})
	return typed[client.Path], err
}

// promptPINs asks for the PINs of all proxies that require one. The result is keyed by socket path,
// so that each proxy receives only its own PIN. If fromInput is set, promptPINs reads a single PIN
// from standard input, and returns an error if several proxies require one.
func promptPINs(ctx context.Context, s stdio, fromInput bool, clients []*control.Client) (map[string]string, error) {
	typed, prompts := map[string]string{}, map[string]string{}
	var needing, names []string // socket paths and display names of the proxies that require a PIN
	for _, client := range clients {
		status, err := client.Status()
		if _, known := prompts[client.Path]; known || err != nil { // an unreachable proxy is reported later, when the command tries to use it
			continue
		}
		name := fmt.Sprintf("proxy %d (%s)", status.Pid, text.Escape(cmp.Or(status.Config, "no configuration file")))
		prompts[client.Path] = "PIN for " + name + ": "
		if status.PIN {
			needing, names = append(needing, client.Path), append(names, name)
		}
	}
	if fromInput && len(needing) > 1 {
		return nil, usage("%s each require their own PIN, and --pin-stdin reads only one; choose a proxy with --proxy", text.And(names))
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

// readPIN reads a PIN, either from the terminal after a prompt or from the first line of standard
// input.
func readPIN(ctx context.Context, s stdio, prompt string, fromInput bool) (string, error) {
	if !fromInput {
		if !terminal.Is(s.in) {
			return "", usage("the proxy requires its PIN, and standard input is not a terminal; use --pin-stdin to read the PIN from standard input")
		}
		return terminal.Secret(ctx, s.in, s.out, prompt)
	}
	lines := bufio.NewScanner(s.in)
	lines.Scan() // after a read error, the PIN is empty and the proxy will refuse it
	return lines.Text(), nil
}
