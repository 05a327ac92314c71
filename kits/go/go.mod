module svckit

go 1.19
