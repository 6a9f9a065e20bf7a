/// tracec-opt: runs passes on .mlir files, for the lit tests and for looking at a stage.
///
///   tracec-opt in.mlir -trace-compose-indexing
#include "Pipelines/Registry.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tracec::registerAllDialects(registry);
  tracec::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "tracec's passes on .mlir files\n", registry));
}
