package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/serve/terminal"
	"github.com/petrigate/petrigate/internal/text"
)

func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(text.EscapeJSON(b.Bytes()))
	return err
}

// printAnswer prints a JSON object with two members: the version of the format, and v under the
// given name.
func printAnswer(w io.Writer, name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return printJSON(w, json.RawMessage(fmt.Sprintf(`{"version":1,%q:%s}`, name, b.Bytes())))
}

// answering makes c print an answer, and adds the flag --json to c. The function ask returns the
// answer and a function that prints it as text. With --json, c prints the answer with [printAnswer]
// instead.
func answering(c *cobra.Command, s stdio, name string, ask func(args []string) (answer any, show func() error, err error)) *cobra.Command {
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(_ *cobra.Command, args []string) error {
		answer, show, err := ask(args)
		if err != nil {
			return err
		}
		return printEither(s.out, *asJSON, name, answer, show)
	}
	return c
}

// printEither prints the answer. If asJSON is true, it prints JSON with [printAnswer]. Otherwise,
// it calls show, which prints text.
func printEither(w io.Writer, asJSON bool, name string, answer any, show func() error) error {
	if asJSON {
		return printAnswer(w, name, answer)
	}
	return show()
}

// shellWord quotes a path for the operating system's shell.
func shellWord(path string) string {
	return text.Escape(clientcfg.CommandLine(clientcfg.System{OS: runtime.GOOS}, []string{path}))
}

func newInk(w io.Writer) text.Ink {
	return text.Ink(terminal.Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// printProblems prints each problem along with its source line.
func printProblems(w io.Writer, problems diag.List) { problems.Print(w, newInk(w)) }

// checkRunnable checks whether this machine can use the commands and TLS files named in the
// configuration. It prints warnings, and returns an error if any command or file cannot be used.
func checkRunnable(w io.Writer, c *config.Config) error {
	warnings, err := daemon.Runnable(c)
	printProblems(w, warnings)
	return err
}

func printError(w io.Writer, err error) { _, _ = fmt.Fprintf(w, "petrigate: %v\n", err) }
