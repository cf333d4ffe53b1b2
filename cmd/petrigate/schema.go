package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
)

func newSchema(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Long: "schema prints the JSON Schema (2020-12) of petrigate.yaml, or with --net that of a file of nets.\n" +
			"An editor with a YAML language server reads it where the file begins with\n" +
			"  # yaml-language-server: $schema=./petrigate.schema.json",
		Args: cobra.NoArgs,
	}
	net := c.Flags().Bool("net", false, "the schema of a file of nets")
	c.RunE = func(*cobra.Command, []string) error {
		text := config.Schema()
		if *net {
			text = config.NetSchema()
		}
		_, err := io.WriteString(s.out, text)
		return err
	}
	return c
}
