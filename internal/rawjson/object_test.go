package rawjson_test

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/rawjson"
)

func ExampleObject() {
	list := rawjson.Array([]byte(`1.0`), rawjson.Object{}.Bytes())
	fmt.Printf("%s\n", rawjson.Object{}.Raw("list", list).String("say", "\"no\"\n").Bytes())
	fmt.Printf("%s\n", rawjson.Array())
	// Output:
	// {"list":[1.0,{}],"say":"\"no\"\n"}
	// []
}
