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
		Long: "schema prints the JSON Schema (2020-12) of petrigate.yaml; with --net, that of a file of nets. An editor with\n" +
			"a YAML language server uses it if the file begins with\n" +
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
