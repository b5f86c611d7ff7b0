$version: "2"
namespace example#weather

structure City {}
