package audit_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "audit.jsonl")

	log, err := audit.Open(path, audit.Rotation{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	if err := log.Append([]byte(`{"decision":"allow","tool":"files.read"}`)); err != nil {
		fmt.Println("the call is refused:", err)
		return
	}
	data, _ := os.ReadFile(path)
	fmt.Print(string(data))
	// Output: {"seq":1,"decision":"allow","tool":"files.read","hash":"9b1b1f0a0703f0f99a55f71a7bf9429c37354508b64350bcbcaca31aa6a05ca9"}
}

func ExampleParseLine() {
	line, err := audit.ParseLine([]byte(`{"seq":1,"tool":"x","hash":"34ee25c3f44e04821a7d2e58d6d93f0791d78225b5125b861a00c1d2249d16bc"}`))
	fmt.Println(line.Seq, string(line.Event), err)
	fmt.Println(line.Hash == audit.Link([32]byte{}, line.Seq, line.Event))
	// Output:
	// 1 {"tool":"x"} <nil>
	// true
}
