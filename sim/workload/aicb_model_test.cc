#include "sim/workload/aicb_model.h"

#include <gtest/gtest.h>

#include "sim/workload/aicb_examples.h"

namespace matchrdma::sim {
namespace {

const std::string kHeader =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 2 pp: 2 vpp: 1 ga: 4";
const std::string kLayer = "mlp -1 10 ALLREDUCE 100 20 NONE 0 30 REDUCESCATTER 300 40";

TEST(AicbModel, ReadsEveryField) {
  const auto m = parse_aicb(kHeader + " pp_comm: 2097152.0\r\n\n 2 \n" + kLayer +
                                "\nexperts\t7\t1\tALLTOALL_EP\t2\t3\tALLGATHER\t4\t5\tALLREDUCE_DP_EP\t6\t7\n",
                            "w");
  ASSERT_TRUE(m.ok()) << m.error();
  EXPECT_EQ(m.value().tensor_parallel, 8u);
  EXPECT_EQ(m.value().pipeline_stages, 2u);
  EXPECT_EQ(m.value().hand_over_bytes, 2'097'152);
  ASSERT_EQ(m.value().layers.size(), 2u);
  const AicbLayer& a = m.value().layers[0];
  EXPECT_EQ(a.name, "mlp");
  EXPECT_EQ(a.forward.compute_ns, 10);
  EXPECT_EQ(a.forward.collective, Collective::kAllReduce);
  EXPECT_EQ(a.forward.bytes, 100);
  EXPECT_EQ(a.input_gradient.compute_ns, 20);
  EXPECT_EQ(a.input_gradient.collective, Collective::kNone);
  EXPECT_EQ(a.weight_gradient.compute_ns, 30);
  EXPECT_EQ(a.weight_gradient.collective, Collective::kReduceScatter);
  EXPECT_EQ(a.weight_gradient.bytes, 300);
  EXPECT_FALSE(a.weight_gradient.experts);
  EXPECT_EQ(a.update_ns, 40);
  const AicbLayer& b = m.value().layers[1];
  EXPECT_EQ(b.forward.collective, Collective::kAllToAll);
  EXPECT_TRUE(b.forward.experts);
  EXPECT_EQ(b.input_gradient.collective, Collective::kAllGather);
  EXPECT_FALSE(b.input_gradient.experts);
  EXPECT_EQ(b.weight_gradient.collective, Collective::kAllReduce);
  EXPECT_TRUE(b.weight_gradient.experts);
}

TEST(AicbModel, WhatTheFirstLineDoesNotNameIsOneRank) {
  const auto m = parse_aicb("DATA\n1\n" + kLayer, "w");
  ASSERT_TRUE(m.ok()) << m.error();
  EXPECT_EQ(m.value().tensor_parallel, 1u);
  EXPECT_EQ(m.value().pipeline_stages, 1u);
  EXPECT_EQ(m.value().hand_over_bytes, 0);
}

TEST(AicbModel, MistakesAreSaidWithLineAndValueAndRemedy) {
  const std::string most = std::to_string(kMostAicbBytes);
  struct Case {
    std::string text, says;
  };
  const Case cases[] = {
      {"", "w:1: the text is empty: give a workload in AICB's format"},
      {"\n \n", "w:2: the text is empty: give a workload in AICB's format"},
      {"12\n", "w:1: '12' stands first: the first line names the policy and the groups, as in 'DATA pp: 1'"},
      {"DATA pp: 0\n", "w:1: pp is '0': write a whole number from 1 to 65536"},
      {"DATA pp_comm:", "w:1: pp_comm is '': write a whole number from 0 to " + most},
      {"DATA pp_comm: 1.5", "w:1: pp_comm is '1.5': write a whole number from 0 to " + most},
      {"DATA\n", "w:1: the text ends here: the second line says how many layers follow"},
      {"DATA\n\ntwo\n", "w:3: the number of layers is 'two': write a whole number from 1 to 100000"},
      {"DATA\n2\n" + kLayer + "\n",
       "w:3: the text ends after 1 of 2 layers: add the others, or lower the number in the second line"},
      {"DATA\n1\n" + kLayer + "\nmore\n",
       "w:4: 'more' after the last of 1 layers: raise the number in the second line, or remove the line"},
      {"DATA\n1\na -1 5\n",
       "w:3: layer 'a' has 3 fields: write 12: name, dep, three times nanoseconds, collective and bytes, "
       "nanoseconds of the update"},
      {"DATA\n1\na -1 -5 NONE 0 0 NONE 0 0 NONE 0 0\n",
       "w:3: the forward's time is '-5': write a whole number from 0 to 1000000000000"},
      {"DATA\n1\na -1 5x NONE 0 0 NONE 0 0 NONE 0 0\n",
       "w:3: the forward's time is '5x': write a whole number from 0 to 1000000000000"},
      {"DATA\n1\na -1 5 NONE 0 0 ALLREDUCES 1 0 NONE 0 0\n",
       "w:3: the input gradient's collective is 'ALLREDUCES': write NONE, ALLREDUCE, REDUCESCATTER, ALLGATHER "
       "or ALLTOALL, with _EP or _DP_EP behind it for experts"},
      {"DATA\n1\na -1 5 NONE_EP 0 0 NONE 0 0 NONE 0 0\n",
       "w:3: the forward's collective is 'NONE_EP': write NONE, ALLREDUCE, REDUCESCATTER, ALLGATHER or "
       "ALLTOALL, with _EP or _DP_EP behind it for experts"},
      {"DATA\n1\na -1 5 NONE 0 0 NONE 0 0 ALLGATHER 99999999999999 0\n",
       "w:3: the weight gradient's size is '99999999999999': write a whole number from 0 to " + most},
      {"DATA\n1\na -1 5 NONE 0 0 NONE 0 0 NONE 8 0\n",
       "w:3: the weight gradient has 'NONE' with '8' bytes: NONE goes with 0 bytes, every other collective "
       "with more"},
      {"DATA\n1\na -1 5 ALLGATHER 0 0 NONE 0 0 NONE 0 0\n",
       "w:3: the forward has 'ALLGATHER' with '0' bytes: NONE goes with 0 bytes, every other collective with "
       "more"},
      {"DATA\n1\na -1 5 NONE 0 0 NONE 0 0 NONE 0 9e9\n",
       "w:3: the update's time is '9e9': write a whole number from 0 to 1000000000000"},
  };
  for (const Case& c : cases) {
    const auto m = parse_aicb(c.text, "w");
    ASSERT_FALSE(m.ok()) << c.text;
    EXPECT_EQ(m.error(), c.says);
  }
}

TEST(AicbExamples, AreInTheFormatAndHaveThePagesFigures) {
  for (const AicbExample& e : kAicbExamples) {
    const auto m = parse_aicb(e.text(), std::string(e.name));
    ASSERT_TRUE(m.ok()) << m.error();
  }
  const AicbModel llama = *parse_aicb(kAicbLlama7b.text(), "llama");
  EXPECT_EQ(llama.tensor_parallel, 2u);
  EXPECT_EQ(llama.layers.size(), 66u);
  EXPECT_EQ(llama.layers[1].weight_gradient.bytes, 13'500'000'000);
  EXPECT_EQ(llama.layers[2].forward.compute_ns, 539'986);
  EXPECT_EQ(llama.layers[65].input_gradient.compute_ns, 529'500);
  EXPECT_EQ(parse_aicb(kAicbGpt13b.text(), "gpt")->tensor_parallel, 8u);
  EXPECT_EQ(parse_aicb(kAicbZero3.text(), "zero")->layers.size(), 12u);
}

}  // namespace
}  // namespace matchrdma::sim
