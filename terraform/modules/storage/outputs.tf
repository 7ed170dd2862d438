output "bucket" {
  value = aws_s3_bucket.media.bucket
}

output "bucket_arn" {
  value = aws_s3_bucket.media.arn
}

output "kms_key_arn" {
  value = aws_kms_key.data.arn
}
