module example.com/sdks

go 1.19
