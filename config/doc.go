// Package config reads the configuration of petrigate: one YAML file, strictly.
//
// The file is parsed once into a tree in which every value knows its line and
// column. Whatever is not understood (an unknown key, a duplicate, a wrong
// type, a key that only a later version will support) is an [Error] with that
// position, the source line and, where one is near, a suggestion; all of them
// are reported at once. Nothing is guessed and nothing is ignored.
//
//	version: 1
//	mcpServers:
//	  files: { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv"] }
//	rules:
//	  - inline: |
//	      require backup before delete
//	audit: { file: audit.jsonl }
//
// JSON is YAML, so the mcpServers block of a client can be pasted as it is.
// [Load] finds and reads a file, [Servers] the servers of one, [Parse] reads bytes,
// [ParseNet] reads nets.
package config
