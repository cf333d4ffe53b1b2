package text_test

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/text"
)

func ExampleAlphabets() {
	fmt.Println(text.Alphabets("admin"))
	fmt.Println(text.Alphabets("аdmin")) // begins with the Cyrillic letter U+0430
	fmt.Println(text.Alphabets("42"))
	// Output:
	// [Latin]
	// [Latin Cyrillic]
	// []
}
