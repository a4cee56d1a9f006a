// Everything that an app and a generated contract need.
#pragma once

#include <ambrosia/immortal.h>
#include <ambrosia/run.h>
