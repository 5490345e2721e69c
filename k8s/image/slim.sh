# Takes out of an environment what nothing of a mind calls at run time: sh slim.sh ENVIRONMENT. What is compiled stays compiled:
# pods cannot write, and each of their processes would compile everything anew.
set -eu
cd "$1"/lib/python3.11/site-packages

# Ray's Java, its libraries for training, and the maps of its page; its programs carry symbols that only a debugger reads.
rm -rf ray/jars ray/rllib ray/llm
find ray/dashboard/client -name '*.map' -delete
strip --strip-unneeded ray/_raylet.so ray/core/src/ray/gcs/gcs_server ray/core/src/ray/raylet/raylet
# Making environments for tasks takes virtualenv; here all is in the image, and nothing may install.
rm -rf virtualenv virtualenv-*.dist-info distlib distlib-*.dist-info

# Pictures are PNG, JPEG, GIF, WebP or BMP.
rm -rf pillow.libs/libavif-* PIL/_avif.*
# Nothing is fetched from a hub of models.
rm -rf hf_xet hf_xet-*.dist-info hf_xet.libs

# Tests, and sources of what is compiled.
find . -type d \( -name tests -o -name test \) -not -path './ray/*' -prune -exec rm -rf {} +
find . -type f \( -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' \
  -o -name '*.pyi' -o -name '*.a' \) -delete
